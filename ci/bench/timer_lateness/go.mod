module timer_lateness

go 1.26
