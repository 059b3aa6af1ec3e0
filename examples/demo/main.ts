/**
 * The demonstration: `npm run demo`. No key, no network.
 * `--json`: one line of JSON at the end of stdout, the story on stderr. `--half`: the report writer dies half-way.
 */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { auditLog } from './audit.ts';
import { countRuns } from './run-log.ts';
import { Screen } from './screen.ts';
import { Story } from './story.ts';

const { values: options } = parseArgs({
  options: { json: { type: 'boolean' }, half: { type: 'boolean' } },
});

const folder = await mkdtemp(join(tmpdir(), 'petrichor-demo-'));
const paths = {
  root: join(import.meta.dirname, '..', '..'),
  database: join(folder, 'demo.db'),
  report: join(folder, 'report.md'),
  runs: join(folder, 'runs.jsonl'),
};
const screen = new Screen(options.json === true ? process.stderr : process.stdout);

screen.title(folder);
const story = new Story(paths, screen);
await story.run(options.half === true ? 'half' : 'all');

const toolRuns = await countRuns(paths.runs);
const { events, gapFree } = auditLog(paths.database, 'demo');
const log = `${events} events, ${gapFree ? 'numbered without a gap' : 'WITH A GAP'}, says a separate reader of ${paths.database}`;
screen.summary(toolRuns, log, paths.report, await readFile(paths.report, 'utf8'));

if (options.json === true) {
  const { killedAt } = story;
  const { report } = paths;
  console.log(JSON.stringify({ session: 'demo', killedAt, toolRuns, events, gapFree, report }));
}
if (!gapFree) process.exitCode = 1;
