import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openConsoleServer } from '../test/console-server.ts';
import { chatter } from './chatter.ts';
import { percentile, round } from './figure.ts';
import type { Figure } from './figure.ts';

const CONSOLES = 20;
const TURNS = 1000;
const ROUNDS = 9;

/**
 * What consoles cost the server: the processor time of a turn, without and with them. Processor time, because the
 * consoles run on the same machine here. Rounds alternate, and each is compared with the one beside it: what other
 * programs do to the caches changes more than consoles do.
 */
export async function measureConsoles(): Promise<readonly Figure[]> {
  await using server = await openConsoleServer({ agents: [chatter] });
  let session = 0;
  const measure = async (): Promise<number> => {
    const one = await server.runtime.session(`turns-${session++}`, { user: 'default' });
    const before = process.cpuUsage();
    for (let turn = 0; turn < TURNS; turn++) await one.ask('hello');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / TURNS;
  };
  await measure();
  const without: number[] = [];
  const withConsoles: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    without.push(await measure());
    const consoles = spawn(
      process.execPath,
      [join(import.meta.dirname, 'open-consoles.ts'), server.url, String(CONSOLES)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(createInterface({ input: consoles.stdout }), 'line');
    withConsoles.push(await measure());
    consoles.kill();
    await once(consoles, 'exit');
  }
  const [alone, shared] = [percentile(without, 0.5), percentile(withConsoles, 0.5)];
  const costs = without.map((ms, round) => (1 - ms / (withConsoles[round] ?? ms)) * 100);
  const cost = percentile(costs, 0.5);
  const spread = [Math.min(...costs), Math.max(...costs)].map((one) => `${round(one)} %`);
  return [
    {
      what: `turns/s of a server with ${CONSOLES} consoles`,
      bar: 'at most 5 % less',
      value: `${round(Math.abs(cost))} % ${cost < 0 ? 'more' : 'less'} (${alone.toFixed(2)}, ${shared.toFixed(2)} ms a turn; rounds ${spread.join(' to ')})`,
      isMet: cost <= 5,
    },
  ];
}
