/** Measures what the console promises, and prints a table: `npm run bench`. It fails on no figure: those depend on the machine. */
import { join } from 'node:path';
import { openBrowser } from '../test/browser.ts';
import { openConsoleServer } from '../test/console-server.ts';
import { chatter, WORDS } from './chatter.ts';
import { measureConsoles } from './measure-consoles.ts';
import { measureFiles } from './measure-files.ts';
import { measureLatency, measureStreaming } from './measure-live.ts';
import { measureLongSession } from './measure-long-session.ts';
import type { Figure } from './figure.ts';

const RECORDS = Number(process.argv[2] ?? 10_000);

const figures: Figure[] = [];
await using server = await openConsoleServer({ agents: [chatter] });
const browser = await openBrowser();
try {
  figures.push(
    ...(await measureFiles(browser, server, join(import.meta.dirname, '../../dist/console'))),
  );
  figures.push(...(await measureLongSession(browser, server, RECORDS)));
  figures.push(...(await measureLatency(browser, server)));
  figures.push(...(await measureStreaming(browser, server, WORDS)));
} finally {
  await browser.close();
}
figures.push(...(await measureConsoles()));

const width = Math.max(...figures.map(({ what }) => what.length));
for (const { what, bar, value, isMet } of figures)
  process.stdout.write(
    `${isMet ? '✔' : '✖'} ${what.padEnd(width)}  ${value.padEnd(24)} bar: ${bar}\n`,
  );
