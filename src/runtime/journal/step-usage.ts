import { addUsage, noUsage } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import type { AgentHost } from '../../agents/index.ts';
import type { StepUsage } from '../../store/index.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Counts the model calls of a session's steps, with the models that answered. */
export class StepUsageCounter {
  /** The model that was called last, by invocation and then by agent. */
  readonly #models = new Map<string, Map<string, string>>();

  #day = { number: NaN, name: '' };

  /** Must be called before each call, to learn which model answers. */
  readonly onCall: NonNullable<AgentHost['onCall']> = ({
    kind,
    name,
    invocationId,
    agentName = '',
  }) => {
    if (kind !== 'model') return;
    const byAgent = this.#models.get(invocationId) ?? new Map<string, string>();
    this.#models.set(invocationId, byAgent.set(agentName, name));
  };

  /** Sums the usage of the events of a step, by day and model. */
  count(events: readonly LogEvent[]): readonly StepUsage[] {
    const groups = new Map<string, StepUsage>();
    for (const event of events) {
      if (event.type !== 'agent.message' && event.type !== 'outcome.evaluated') continue;
      const model = event.type === 'agent.message' ? this.#findModel(event) : undefined;
      // Without both, the message did not come from a model.
      if (event.usage === undefined && model === undefined) continue;
      const day = this.#toDay(event.at);
      const name = `${day} ${model ?? ''}`;
      const { calls, tokens } = groups.get(name) ?? { calls: 0, tokens: noUsage };
      groups.set(name, {
        day,
        model: model ?? '',
        calls: calls + 1,
        tokens: addUsage(tokens, event.usage ?? noUsage),
      });
    }
    return [...groups.values()];
  }

  /** Must be called with the events of each committed step. */
  onCommitted(events: readonly LogEvent[]): void {
    for (const event of events)
      if (event.type === 'turn.ended') this.#models.delete(event.invocationId);
  }

  /** The day of a time, in UTC. Formatting a date is slow, and most steps are of the same day as the one before. */
  #toDay(at: number): string {
    const number = Math.floor(at / DAY_MS);
    if (this.#day.number !== number)
      this.#day = { number, name: new Date(at).toISOString().slice(0, 10) };
    return this.#day.name;
  }

  /** A session of one agent calls its model without the agent's name. */
  #findModel({
    invocationId,
    author,
  }: {
    invocationId: string;
    author: string;
  }): string | undefined {
    const byAgent = this.#models.get(invocationId);
    return byAgent?.get(author) ?? byAgent?.get('');
  }
}
