import { omitUndefined } from '../../core/internal.ts';
import { addUsage } from '../../core/index.ts';
import type {
  ListedPendingCall,
  PendingCallChange,
  PendingCallPage,
  PendingCallPageOptions,
  Runtime,
  SessionChangeEvent,
  SessionChangesOptions,
  UsageOptions,
  WatchPendingOptions,
} from '../../runtime/index.ts';
import type { UsageTotal } from '../../store/index.ts';
import type { AgentNames } from '../catalogs/agent-names.ts';

const DEFAULT_LIMIT = 100;

/** Lists over all sessions of a runtime. Agents are named by their ids, whatever their versions are. */
export class SessionListings {
  readonly #runtime: Runtime;
  readonly #names: AgentNames;

  constructor(runtime: Runtime, names: AgentNames) {
    this.#runtime = runtime;
    this.#names = names;
  }

  async pendingCalls({
    agent,
    limit = DEFAULT_LIMIT,
    ...options
  }: PendingCallPageOptions): Promise<PendingCallPage> {
    if (agent === undefined) {
      const page = await this.#runtime.pending({ ...options, limit });
      return { ...page, calls: page.calls.map((call) => this.#withAgentId(call)) };
    }
    const calls: ListedPendingCall[] = [];
    let { after } = options;
    // A version of the agent has its own name in the index, so the calls are selected here.
    for (;;) {
      const page = await this.#runtime.pending({
        ...options,
        limit: limit - calls.length,
        ...omitUndefined({ after }),
      });
      calls.push(
        ...page.calls.map((call) => this.#withAgentId(call)).filter((call) => call.agent === agent),
      );
      after = page.next;
      if (after === undefined || calls.length === limit)
        return { calls, ...omitUndefined({ next: after }) };
    }
  }

  async *watchPendingCalls({
    agent,
    ...options
  }: WatchPendingOptions): AsyncGenerator<PendingCallChange, void, undefined> {
    const known = new Set<string>();
    for await (const change of this.#runtime.watchPending(options)) {
      if (change.type === 'current') yield change;
      else if (change.type === 'removed') {
        if (known.delete(change.callId)) yield change;
      } else {
        const call = this.#withAgentId(change.call);
        if (agent !== undefined && call.agent !== agent) continue;
        known.add(call.callId);
        yield { type: change.type, call };
      }
    }
  }

  async *sessionChanges({
    agent,
    ...options
  }: SessionChangesOptions): AsyncGenerator<SessionChangeEvent, void, undefined> {
    for await (const change of this.#runtime.changes(options)) {
      const isSelected =
        agent === undefined ||
        change.type === 'current' ||
        change.type === 'deleted' ||
        this.#toAgentId(change.row.agent) === agent;
      if (isSelected) yield change;
    }
  }

  async usageTotals({ by = [], agent, ...options }: UsageOptions): Promise<readonly UsageTotal[]> {
    const needsAgent = agent !== undefined && !by.includes('agent');
    const rows = await this.#runtime.usage({ ...options, by: needsAgent ? [...by, 'agent'] : by });
    const groups = new Map<string, UsageTotal>();
    for (const row of rows) {
      const id = this.#toAgentId(row.agent ?? '');
      if (agent !== undefined && id !== agent) continue;
      const { agent: _agent, ...rest } = row;
      const group: UsageTotal = by.includes('agent') ? { ...rest, agent: id } : rest;
      const name = JSON.stringify(by.map((one) => group[one]));
      const known = groups.get(name);
      groups.set(
        name,
        known === undefined
          ? group
          : {
              ...known,
              calls: known.calls + row.calls,
              tokens: addUsage(known.tokens, row.tokens),
            },
      );
    }
    return [...groups.values()];
  }

  #withAgentId(call: ListedPendingCall): ListedPendingCall {
    return { ...call, agent: this.#toAgentId(call.agent) };
  }

  #toAgentId(name: string): string {
    return this.#names.resolve(name).id;
  }
}
