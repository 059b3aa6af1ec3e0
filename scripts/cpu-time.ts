/** CPU time of this process and of those it started. Wall time says little where other programs run. */
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/**
 * The CPU time in seconds, user and system, of this process and of all processes that it started
 * and that have ended, with those that they started. Where the system has no `/proc`: of this process.
 */
export function readCpuSeconds(): number {
  let stat: string;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  // The second field is a name in parentheses. utime, stime, cutime and cstime are fields 14 to 17.
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return ticks.reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SECOND;
}
