import { crc32 } from 'node:zlib';

/** A picture of an animation, as the bytes of a PNG file, and how long it is shown. */
export interface Frame {
  readonly png: Uint8Array;
  readonly ms: number;
}

const SIGNATURE = 8;

/**
 * Joins PNG files of the same size into an animated PNG, which repeats forever. The compressed pixels are copied: the
 * first picture is also what a program shows that knows no animations.
 * @throws RangeError without a frame
 */
export function joinFrames(frames: readonly Frame[]): Uint8Array {
  const [first] = frames;
  if (first === undefined) throw new RangeError('an animation needs a frame');
  const chunks = frames.map(({ png }) => readChunks(png));
  const header = chunks[0]?.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13);
  const parts = [Buffer.from(first.png.subarray(0, SIGNATURE)), toChunk('IHDR', header)];
  const control = Buffer.alloc(8);
  control.writeUInt32BE(frames.length, 0);
  parts.push(toChunk('acTL', control));
  let sequence = 0;
  for (const [index, { ms }] of frames.entries()) {
    const frame = Buffer.alloc(26);
    frame.writeUInt32BE(sequence++, 0);
    header.copy(frame, 4, 0, 8);
    frame.writeUInt16BE(ms, 20);
    frame.writeUInt16BE(1000, 22);
    parts.push(toChunk('fcTL', frame));
    for (const { type, data } of chunks[index] ?? []) {
      if (type !== 'IDAT') continue;
      if (index === 0) parts.push(toChunk('IDAT', data));
      else {
        const number = Buffer.alloc(4);
        number.writeUInt32BE(sequence++, 0);
        parts.push(toChunk('fdAT', Buffer.concat([number, data])));
      }
    }
  }
  parts.push(toChunk('IEND', Buffer.alloc(0)));
  return Buffer.concat(parts);
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function readChunks(png: Uint8Array): readonly Chunk[] {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: bytes.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function toChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}
