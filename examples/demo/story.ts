import type { LogEvent, PendingCall } from 'petrichor';
import { question } from './agent.ts';
import { HostedSession } from './hosted-session.ts';
import type { Paths } from './messages.ts';
import { decide } from './person.ts';
import type { Screen } from './screen.ts';

/** Where the report writer dies: `half` of the file is written, or `all` of it and only its return is missing. */
export type Written = 'half' | 'all';

/** When to kill a process: a tool has reached its nth point there, and so many results of the session are committed. */
interface Plan {
  readonly tool: string;
  readonly point: number;
  readonly results: number;
}

export interface Killed {
  readonly tool: string;
  readonly done: string;
  /** The last event that was told before. */
  readonly afterSeq: number;
}

/** One session in three processes: the first dies inside a tool that only reads, the second inside the report writer. */
export class Story {
  readonly killedAt: Killed[] = [];
  readonly #paths: Paths;
  readonly #screen: Screen;
  #seq = 0;
  #results = 0;

  constructor(paths: Paths, screen: Screen) {
    this.#paths = paths;
    this.#screen = screen;
  }

  async run(written: Written): Promise<void> {
    await this.#host({ tool: 'count_words', point: 3, results: 4 });
    await this.#host({ tool: 'write_report', point: written === 'half' ? 1 : 2, results: 5 });
    await this.#host();
  }

  /** Hosts the session in a new process, until it is killed as planned or the turn is over. */
  async #host(plan?: Plan): Promise<void> {
    await using session = new HostedSession(this.#paths, this.#seq);
    this.#screen.started(session.pid);
    if (this.#seq === 0) session.order({ say: question });
    let points = 0;
    let held: string | undefined;
    for (;;) {
      const message = await session.next();
      if ('event' in message) {
        this.#see(message.event);
        if (message.event.type === 'turn.ended') return await session.close();
      } else if ('pending' in message) {
        for (const call of message.pending) await this.#ask(call, session);
      } else if (message.reached.tool === plan?.tool && ++points === plan.point) {
        held = message.reached.done;
      } else {
        session.order({ goOn: message.reached.callId });
      }
      if (plan !== undefined && held !== undefined && this.#results === plan.results) {
        await session.kill();
        this.killedAt.push({ tool: plan.tool, done: held, afterSeq: this.#seq });
        return this.#screen.killed(session.pid, plan.tool, held);
      }
    }
  }

  #see(event: LogEvent): void {
    if (event.seq !== this.#seq + 1) throw new Error(`Event ${this.#seq + 1} was not told.`);
    this.#seq = event.seq;
    if (event.type === 'tool.result') this.#results++;
    this.#screen.show(event);
  }

  async #ask(call: PendingCall, session: HostedSession): Promise<void> {
    const { order, because } = await decide(call, this.#paths.report);
    this.#screen.asked(call, because);
    session.order(order);
  }
}
