import multiprocessing as mp
import sys


class Point:
    def __init__(self, x):
        self.x = x


def twice(point):
    return Point(point.x * 2)


if __name__ == '__main__':
    mp.set_start_method('spawn')
    with mp.Pool(1) as pool:
        print([point.x for point in pool.map(twice, [Point(1), Point(2)])])
    process = mp.Process(target=sys.exit, args=(6,))
    process.start()
    process.join()
    print(process.exitcode)
