import { mkdirSync, writeFileSync } from 'node:fs';
import { diagramsOf } from './shipped-nets.ts';

// Draws every shipped net into docs/nets/, as the documents show them.
mkdirSync('docs/nets', { recursive: true });
for (const { file, draw } of diagramsOf()) {
  writeFileSync(file, await draw());
  console.log(file);
}
