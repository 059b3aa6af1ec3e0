/** Runs a turn until its call waits for an approval. Prints whether the package has approvals. */
import { appendFileSync } from 'node:fs';
import { oneCall } from './approval-script.ts';
import { loadPeer } from '../peers.ts';

const [name = '', file = '', effects = ''] = process.argv.slice(2);
const peer = await loadPeer(name);
const readFile = (path: string): string => {
  appendFileSync(effects, `${path}\n`);
  return 'RESULT';
};
const agent = await peer.open({ script: oneCall, file, readFile, needsApproval: true });
if (agent.approve !== undefined) await agent.ask('session', 'MESSAGE');
console.log(agent.approve === undefined ? 'no approvals' : 'waits');
await agent.close();
process.exit();
