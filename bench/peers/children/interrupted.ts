/** Begins a turn with two calls: one finishes, the other does not end. */
import { appendFileSync } from 'node:fs';
import { crashScript } from './crash-script.ts';
import { loadPeer } from '../peers.ts';

const [name = '', file = '', effects = ''] = process.argv.slice(2);
setInterval(() => undefined, 60_000);
const peer = await loadPeer(name);
const agent = await peer.open({
  script: crashScript,
  file: peer.durable === undefined ? undefined : file,
  readFile: async (path) => {
    appendFileSync(effects, `${path}\n`);
    return path === 'fast' ? 'RESULT' : new Promise(() => undefined);
  },
});
await agent.ask('session', 'MESSAGE');
