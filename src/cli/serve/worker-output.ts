import { Writable } from 'node:stream';
import type { OutputStream } from '../command/cli-context.ts';

/**
 * Names the worker in each line: as a field of a JSON line, else before the line. Every write must be whole lines. The
 * worker's lines and those of other processes do not mix, because a line is written at once.
 */
export function labelLines(output: OutputStream, worker: number, json: boolean): OutputStream {
  const label = (line: string): string => {
    if (json && line.startsWith('{"')) return `{"worker":${worker},${line.slice(1)}`;
    return line === '' ? '' : `worker ${worker}: ${line}`;
  };
  const labelled: OutputStream = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      output.write(chunk.toString().split('\n').map(label).join('\n'), done);
    },
  });
  return labelled;
}
