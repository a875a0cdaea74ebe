module addresses

go 1.26
