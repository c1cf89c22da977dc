// Headers, Request, Response, forms, streams, and fetch where there is no network.
const tried = async (name, act) => {
    try {
        console.log(name, await act());
    } catch (error) {
        console.log(name, `${error.name}: ${error.message}`, error.cause ? `(${error.cause.message})` : '');
    }
};
const bytes = text => new TextEncoder().encode(text);

(async () => {
    await tried('headers', () => [...new Headers([['B', ' x '], ['a', '1'], ['A', '2'], ['Set-Cookie', 'q=1'], ['set-cookie', 'r=2']])]);
    await tried('cookies', () => new Headers([['Set-Cookie', 'q=1'], ['set-cookie', 'r=2']]).getSetCookie());
    await tried('header name', () => new Headers({ 'a b': 'x' }));
    await tried('header value', () => new Headers({ a: 'x\u0100' }));
    await tried('response', () => new Response('x', { status: 404, statusText: 'Gone', headers: { a: 'b' } }));
    await tried('json', async () => {
        const response = Response.json({ a: [1] }, { status: 201 });
        return [response.status, response.ok, response.headers.get('content-type'), await response.json()];
    });
    await tried('redirect', () => [...Response.redirect('http://a.test/b', 301).headers]);
    await tried('error', () => Response.error().type);
    await tried('status', () => new Response('', { status: 99 }));
    await tried('no body', () => new Response('x', { status: 204 }));
    await tried('twice', async () => {
        const response = new Response('x');
        await response.text();
        return response.text();
    });
    await tried('clone', async () => {
        const response = new Response(ReadableStream.from([bytes('one '), bytes('two')]));
        const other = response.clone();
        return [await other.text(), await response.text(), response.bodyUsed];
    });
    const params = new URLSearchParams({ a: '1 2' });
    for (const body of ['s', bytes('b'), bytes('c').buffer, params, new Blob(['d'], { type: 'A/b' }), null]) {
        const response = new Response(body);
        await tried('body', async () => [response.headers.get('content-type'), await response.text(), response.body === null]);
    }
    await tried('form', async () => {
        const form = new FormData();
        form.append('a', '1\n2');
        form.append('f', new File(['xyz'], 'n"m.txt', { type: 't/p' }));
        const again = await new Response(form).formData();
        const file = again.get('f');
        return [again.get('a'), file.name, file.type, await file.text()];
    });
    await tried('form of parameters', async () => [...await new Response(params).formData()]);
    await tried('request', () => {
        const request = new Request('http://a.test/?b#c', { method: 'post', body: 'x', headers: { d: 'e' } });
        return [request.method, request.url, [...request.headers], request.redirect];
    });
    await tried('request, GET with a body', () => new Request('http://a.test/', { body: 'x' }));
    await tried('request, method', () => new Request('http://a.test/', { method: 'A B' }));
    await tried('request, credentials', () => new Request('http://u:p@a.test/'));
    await tried('stream', async () => {
        const pieces = [];
        for await (const piece of new Response('abc').body) pieces.push(piece);
        return pieces;
    });
    await tried('stream through a decoder', async () => {
        let text = '';
        const [first, second] = [bytes('h\u00e9').slice(0, 2), bytes('h\u00e9!').slice(2)];
        for await (const piece of ReadableStream.from([first, second]).pipeThrough(new TextDecoderStream())) text += piece;
        return text;
    });
    await tried('stream, backpressure', async () => {
        let made = 0;
        const reader = new ReadableStream({ pull(controller) { controller.enqueue(made++); } }).getReader();
        await reader.read();
        await new Promise(resolve => setTimeout(resolve, 1));
        return made;
    });
    await tried('data', async () => {
        const response = await fetch('data:text/html;base64,aGk=#f');
        return [response.status, response.url, response.headers.get('content-type'), await response.text()];
    });
    await tried('data, plain', async () => (await fetch('data:,a%20b')).text());
    await tried('aborted', () => fetch('data:,a', { signal: AbortSignal.abort() }));
    await tried('file', () => fetch('file:///etc/passwd'));
    await tried('ftp', () => fetch('ftp://a.test/'));
    await tried('relative', () => fetch('/a'));
    await tried('no network', () => fetch('https://api.example.test/x'));
    await tried('no network, a port', () => fetch('http://api.example.test:8080/x'));
})();
