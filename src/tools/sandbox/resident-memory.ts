import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** False where the kernel does not say who started whom. */
export function canMeasureMemory(): boolean {
  return existsSync('/proc/thread-self/children');
}

/**
 * Bytes of memory that a process and all it started hold by themselves: anonymous and shared memory, not files. Pages
 * that a fork still shares count once for each. What has ended meanwhile counts nothing.
 */
export async function residentMemory(pid: number): Promise<number> {
  const [own, children] = await Promise.all([processMemory(pid), listChildren(pid)]);
  const theirs = await Promise.all(children.map(residentMemory));
  return theirs.reduce((sum, bytes) => sum + bytes, own);
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
