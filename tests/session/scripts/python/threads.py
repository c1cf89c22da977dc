import concurrent.futures
import queue
import threading
import time

jobs, results = queue.Queue(), []
lock = threading.Lock()


def worker():
    while (job := jobs.get()) is not None:
        with lock:
            results.append(job * job)
        jobs.task_done()


threads = [threading.Thread(target=worker, name='w%d' % i) for i in range(4)]
for thread in threads:
    thread.start()
for number in range(50):
    jobs.put(number)
jobs.join()
for thread in threads:
    jobs.put(None)
for thread in threads:
    thread.join()
print(sum(results), threading.active_count(), threading.current_thread().name,
      threads[0].is_alive())
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    print(list(pool.map(str.upper, 'abc')), pool.submit(divmod, 7, 2).result())
    print(type(pool.submit(int, 'x').exception()).__name__)
event, local = threading.Event(), threading.local()
threading.Timer(0.001, event.set).start()
print(event.wait(), hasattr(local, 'x'))
late = threading.Thread(target=lambda: (time.sleep(0.01), print('after the main thread')))
late.start()
threading.Thread(target=lambda: 1 / 0).start()
