import { mkdirSync, writeFileSync } from 'node:fs';
import { agentDiagrams } from './agent-diagrams.ts';
import { exampleDiagrams } from './example-nets.ts';
import { liveDiagrams } from './live-nets.ts';
import { managedDiagrams } from './managed-nets.ts';
import { drawMessagePath, messagePathPicture, traceMessagePath } from './message-path.ts';
import { listDiagrams } from './shipped-nets.ts';

// Draws every shipped net, and the way of a message, into docs/nets/, as the documents show them.
mkdirSync('docs/nets', { recursive: true });
for (const { file, draw } of [
  ...listDiagrams(),
  ...agentDiagrams(),
  ...exampleDiagrams(),
  ...liveDiagrams(),
  ...(await managedDiagrams()),
]) {
  writeFileSync(file, await draw());
  console.log(file);
}
writeFileSync(messagePathPicture, await drawMessagePath(await traceMessagePath()));
console.log(messagePathPicture);
