import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** False where the kernel does not list the children of a process. */
export function canMeasureMemory(): boolean {
  return existsSync('/proc/thread-self/children');
}

/**
 * The memory of a process and its descendants in bytes: anonymous and shared memory, not files. A
 * page that forks still share counts once for each of them. A process that has ended counts 0.
 */
export async function residentMemory(pid: number): Promise<number> {
  const [ownBytes, children] = await Promise.all([processMemory(pid), listChildren(pid)]);
  const childBytes = await Promise.all(children.map(residentMemory));
  return childBytes.reduce((sum, bytes) => sum + bytes, ownBytes);
}

async function processMemory(pid: number): Promise<number> {
  const status = await readText(`/proc/${pid}/status`);
  const counts = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(?<kib>\d+) kB$/gm)];
  return counts.reduce((sum, { groups = {} }) => sum + Number(groups['kib']) * 1024, 0);
}

async function listChildren(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((tid) => readText(`/proc/${pid}/task/${tid}/children`)),
  );
  return lists.flatMap((list) => list.split(' ').filter(Boolean)).map(Number);
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
