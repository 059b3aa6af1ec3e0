import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * The first line of a program's output.
 * @throws if the program ends without one
 */
export async function firstLine({ stdout, pid }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('Nobody listens to the program.');
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    // Later output is discarded.
    lines.close();
    stdout.resume();
    return line;
  }
  throw new Error(`Program ${pid} ended without a word.`);
}
