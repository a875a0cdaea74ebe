LINES = {f"4.{n}": "" for n in range(1, 17)} | {f"5.{n}": "" for n in range(1, 10)}
