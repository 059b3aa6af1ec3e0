import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** User and system time of a process on Linux. 0 elsewhere. */
export function cpuMsOfProcess(pid: number): number {
  try {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
    return ((user + system) * 1000) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
