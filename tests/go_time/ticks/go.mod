module ticks

go 1.26
