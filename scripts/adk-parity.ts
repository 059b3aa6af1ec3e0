/** Writes docs/conformance/adk-parity.md and adk-options.md: the comparison with @google/adk. */
import { writeFileSync } from 'node:fs';
import { version } from '@google/adk';
import { compareProgram } from '../test/adk-comparison/parity/compare-programs.ts';
import { createParityPage } from '../test/adk-comparison/parity/parity-page.ts';
import { createOptionsPage } from '../test/adk-comparison/options/options-page.ts';
import { programs } from '../test/adk-comparison/parity/programs/index.ts';

const comparisons = [];
for (const program of programs) comparisons.push(await compareProgram(program));
writeFileSync(
  new URL('../docs/conformance/adk-parity.md', import.meta.url),
  createParityPage(comparisons, version),
);
writeFileSync(new URL('../docs/conformance/adk-options.md', import.meta.url), createOptionsPage());
