import asyncio


async def work(name, steps):
    for step in range(steps):
        await asyncio.sleep(0)
        print(name, step)
    return name


async def numbers():
    for i in range(3):
        yield i
        await asyncio.sleep(0)


async def main():
    print(await asyncio.gather(work('a', 2), work('b', 3)))
    print([i async for i in numbers()], await asyncio.to_thread(sum, range(5)))
    queue = asyncio.Queue()
    async with asyncio.TaskGroup() as group:
        group.create_task(queue.put(1))
        task = group.create_task(queue.get())
    print(task.result())
    child = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)
    print(await child.communicate(b'through a child'))
    try:
        await asyncio.wait_for(asyncio.Event().wait(), 0.001)
    except TimeoutError as error:
        print(type(error).__name__)
    await asyncio.gather(work('c', 1), asyncio.create_task(fail()))


async def fail():
    raise LookupError('in a task')


asyncio.run(main())
