/** Reads the call that waits, then approves it at the same moment as another process. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { oneCall } from './approval-script.ts';
import { loadPeer } from '../peers.ts';

const [name = '', file = '', effects = '', ready = '', go = ''] = process.argv.slice(2);
const peer = await loadPeer(name);
/** Long enough for the second approval to arrive while the tool runs. */
const TOOL_MS = 500;

const readFile = async (path: string): Promise<string> => {
  appendFileSync(effects, `${path}\n`);
  return delay(TOOL_MS, 'RESULT');
};
const agent = await peer.open({ script: oneCall, file, readFile, needsApproval: true });
try {
  await agent.approve?.('session', async () => {
    writeFileSync(ready, 'ready\n');
    while (!existsSync(go)) await delay(5);
  });
} catch (error) {
  // A package that refuses the second approval does so by an error.
  console.error(error);
}
await agent.close();
process.exit();
