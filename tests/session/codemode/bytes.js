import { Buffer } from 'node:buffer';
const words = new Uint32Array([1, 0xdeadbeef]);
const view = new DataView(words.buffer);
console.log(view.getUint8(4).toString(16), view.getFloat32(0), words, new Float64Array(2).fill(0.5));
const b = Buffer.from('héllo wörld', 'utf8');
console.log(b.toString('hex'), b.length, b.toString('base64'), b.subarray(0, 3));
const packet = Buffer.alloc(10);
packet.writeUInt16BE(0x4c5a, 0); packet.writeInt32LE(-2, 2); packet.write('ok', 6, 'ascii');
console.log(packet, packet.readInt32LE(2), Buffer.concat([packet.subarray(6, 8), Buffer.from([33])]).toString());
const crc32 = (bytes) => {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (~crc >>> 0).toString(16);
};
const text = new TextDecoder().decode(new TextEncoder().encode('naïve ☃ 😀'));
const sorted = Int16Array.from([3, -1, 2]).sort();
const back = await echo(Uint8Array.of(0, 255, 128));
({ crc: crc32(Buffer.from('123456789')), text, sorted, back, clamped: new Uint8ClampedArray([300, -5, 1.5]), atob: atob('aGk='), equal: Buffer.from([1, 2]).equals(Uint8Array.of(1, 2)) });
