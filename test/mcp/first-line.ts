import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The first line a program says. @throws when it ends without one */
export async function firstLine({ stdout, pid }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('Nobody listens to the program.');
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    // What it says later is let go.
    lines.close();
    stdout.resume();
    return line;
  }
  throw new Error(`Program ${pid} ended without a word.`);
}
