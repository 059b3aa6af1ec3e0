/** Opens what a killed process left, and continues it: alone, by the package's call for it, or by the message again. */
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { crashScript } from './crash-script.ts';
import { loadPeer } from '../peers.ts';

export interface Recovery {
  readonly hasMessage: boolean;
  readonly hasResult: boolean;
  readonly resumed: 'by itself' | 'by a call' | 'no';
}

/** A package that has not continued by then does not continue by itself. */
const ALONE_MS = 10_000;

const [name = '', file = '', effects = ''] = process.argv.slice(2);
const peer = await loadPeer(name);
const agent = await peer.open({
  script: crashScript,
  file: peer.durable === undefined ? undefined : file,
  readFile: (path) => {
    appendFileSync(effects, `${path}\n`);
    return 'RESULT';
  },
});
const stored = await agent.stored('session');
const hasMessage = stored.includes('MESSAGE');
const hasResult = stored.includes('RESULT');

let resumed: Recovery['resumed'] = 'no';
if (peer.durable !== undefined && (await answersAlone())) resumed = 'by itself';
else if (agent.resume !== undefined) {
  await agent.resume('session');
  if (await hasAnswer()) resumed = 'by a call';
} else await agent.ask('session', 'MESSAGE').catch(() => '');
console.log(JSON.stringify({ hasMessage, hasResult, resumed } satisfies Recovery));
process.exit();

async function answersAlone(): Promise<boolean> {
  for (const deadline = Date.now() + ALONE_MS; Date.now() < deadline; await delay(100))
    if (await hasAnswer()) return true;
  return false;
}

async function hasAnswer(): Promise<boolean> {
  return (await agent.stored('session')).includes('FINAL ANSWER');
}
