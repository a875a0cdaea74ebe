module operator

go 1.26
