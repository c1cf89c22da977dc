import concurrent.futures
import multiprocessing as mp


def square(x):
    return x * x


def child(queue, value, end):
    queue.put({'from': 'child'})
    with value.get_lock():
        value.value += 3
    end.send([1, 2])
    raise SystemExit(4)


if __name__ == '__main__':
    mp.set_start_method('fork')
    with mp.Pool(2) as pool:
        print(pool.map(square, range(6)), pool.apply_async(square, (9,)).get())
        try:
            pool.apply(square, ('x',))
        except TypeError as error:
            print(error)
    queue, value, (here, there) = mp.Queue(), mp.Value('i', 1), mp.Pipe()
    process = mp.Process(target=child, args=(queue, value, there))
    process.start()
    print(queue.get(), here.recv())
    process.join()
    print(value.value, process.exitcode)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(square, range(4))), pool.submit(pow, 2, 10).result())
