import { styleText } from 'node:util';
import type { LogEvent, PendingCall } from 'petrichor';
import { isJsonObject, contentText } from 'petrichor/core';
import type { Json } from 'petrichor/core';
import type { ToolRuns } from './run-log.ts';

type Style = Parameters<typeof styleText>[0];

interface Call {
  readonly name: string;
  /** The path it was asked for; may be empty. */
  readonly path: string;
  finished: boolean;
}

/** Shows the demonstration as it goes, in about one screen. */
export class Screen {
  readonly #out: NodeJS.WriteStream;
  readonly #calls = new Map<string, Call>();

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  title(folder: string): void {
    this.#line('An agent counts words and writes a report. Its process is killed twice.', 'bold');
    this.#line(`Everything is in ${folder}`, 'dim');
  }

  started(pid: number): void {
    const what = this.#calls.size === 0 ? 'begins the session' : 'takes the session over';
    this.#line(`\n● process ${pid} ${what}`, 'green');
    const finished = [...this.#calls.values()].filter((call) => call.finished);
    const byName = Object.entries(Object.groupBy(finished, ({ name }) => name));
    const labels = byName.map(
      ([name, calls = []]) => `${name} ${calls.map(({ path }) => path).join(', ')}`,
    );
    if (labels.length > 0) this.#entry('', 'not run again', labels.join(' · '), 'dim');
  }

  show(event: LogEvent): void {
    const { seq } = event;
    if (event.type === 'user.message') this.#entry(seq, 'user', contentText(event.content));
    else if (event.type === 'agent.message') this.#entry(seq, 'agent', contentText(event.content));
    else if (event.type === 'tool.call') {
      const { name, args, callId } = event;
      const path = typeof args['path'] === 'string' ? args['path'] : '';
      this.#calls.set(callId, { name, path, finished: false });
      if (event.needs === 'approval') this.#entry(seq, 'waits', `${name}: may it?`, 'magenta');
    } else if (event.type === 'tool.attempt') {
      const what = `${this.#label(event.callId)}: it only reads, so attempt ${event.attempt} begins`;
      this.#entry(seq, 'run again', what, 'yellow');
    } else if (event.type === 'tool.result') {
      const call = this.#calls.get(event.callId);
      if (call !== undefined) call.finished = true;
      const result =
        event.outcome === 'ok' ? formatResult(event.response) : `outcome ${event.outcome}`;
      const style = event.outcome === 'ok' ? 'cyan' : 'yellow';
      this.#entry(seq, 'result', `${this.#label(event.callId)} → ${result}`, style);
    }
  }

  /** A call waits for a person, who decides. */
  asked({ callId, reason }: PendingCall, because: string): void {
    const why = 'it may have happened, and twice is not once: a person decides';
    if (reason === 'crash') this.#entry('', 'unknown', `${this.#label(callId)}: ${why}`, 'yellow');
    this.#entry('', 'person', because, 'magenta');
  }

  killed(pid: number, tool: string, done: string): void {
    this.#line(`✖ kill -9 ${pid} inside ${tool}: ${done}`, ['red', 'bold']);
  }

  /** The end: what the tools say they did, what the separate reader found, and the report. */
  summary(toolRuns: ToolRuns, log: string, report: string, text: string): void {
    this.#line(
      '\ntool           starts  completions  unknown   (from the tools’ own file)',
      'bold',
    );
    for (const [tool, { starts, completions, unknown }] of Object.entries(toolRuns)) {
      const numbers = `${pad(starts, 6)}  ${pad(completions, 11)}  ${pad(unknown, 7)}`;
      this.#line(`${tool.padEnd(14)} ${numbers}`);
    }
    this.#line(`\nlog     ${log}`);
    this.#line(`report  ${report}\n`);
    this.#line(text.replaceAll(/^(?=.)/gm, '    ').trimEnd());
  }

  #label(callId: string): string {
    const { name = callId, path = '' } = this.#calls.get(callId) ?? {};
    return `${name} ${path}`.trim();
  }

  #entry(seq: number | '', what: string, text: string, style: Style = 'reset'): void {
    const number = styleText('dim', pad(seq, 4), { stream: this.#out });
    this.#line(`${number}  ${what.padEnd(14)} ${styleText(style, text, { stream: this.#out })}`);
  }

  #line(text: string, style: Style = 'reset'): void {
    this.#out.write(`${styleText(style, text, { stream: this.#out })}\n`);
  }
}

function pad(value: number | '', width: number): string {
  return String(value).padStart(width);
}

/** A result in a few words. */
function formatResult(response: Json): string {
  if (!isJsonObject(response)) return '';
  const { files, text, words, written } = response;
  if (Array.isArray(files)) return `${files.length} files`;
  if (typeof text === 'string') return `${text.length} characters`;
  if (typeof written === 'number') return `${written} characters written`;
  return typeof words === 'number' ? `${words} words` : 'done';
}
