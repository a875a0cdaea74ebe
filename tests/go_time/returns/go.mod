module returns

go 1.26
