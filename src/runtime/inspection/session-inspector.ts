import { checkChoice, describeValue } from '../../core/internal.ts';
import { checkOptions, InvalidInputError } from '../../core/index.ts';
import type { Seq, SessionKey } from '../../core/index.ts';
import type { Agent, AgentHost } from '../../agents/index.ts';
import { readPromptFormat } from '../../agents/internal.ts';
import type { RecordSeq } from '../../net/index.ts';
import type { NamedNet } from '../../net/internal.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { ToolServices } from '../../tools/index.ts';
import { describeNet } from './describe-net.ts';
import { readForkPoints } from './fork-points.ts';
import type { ForkPoint } from './fork-points.ts';
import { inspectMarking } from './inspect-marking.ts';
import type { InspectedMarking } from './inspect-marking.ts';
import { MARKING_OPTIONS, RECORDS_OPTIONS } from './inspected-record.ts';
import type { InspectedRecord, MarkingOptions, RecordsOptions } from './inspected-record.ts';
import type { MarkingHistory } from './marking-history.ts';
import { rebuildModelRequest } from './model-request.ts';
import type { InspectedModelRequest } from './model-request.ts';
import { LAYOUT_ENGINES, NET_OPTIONS } from './net-description.ts';
import type { NetDescription, NetOptions } from './net-description.ts';
import { readRecords } from './read-records.ts';
import type { SessionInspection } from './session-inspection.ts';
import { VALUE_DETAILS } from './value-detail.ts';
import type { ValueDetail } from './value-detail.ts';

/** What an inspection needs of its runtime. */
export interface InspectionServices {
  readonly store: Store;
  readonly history: MarkingHistory;
  /** The services that an instruction of the session's agent may use. */
  readonly getTools: (key: SessionKey) => ToolServices;
  /** Calls the listener when the session may have new records, or the runtime closes. Returns the function that stops. */
  readonly onChange: (key: SessionKey, listener: () => void) => () => void;
  readonly isClosed: () => boolean;
  /** Called with true when a reader begins to wait for records, and with false when it ends. */
  readonly onWaiting: (waiting: boolean) => void;
}

/** Records keep the names that they were written with. */
const NO_NET: NamedNet = { hash: '', formerNames: { places: new Map(), transitions: new Map() } };

export class SessionInspector implements SessionInspection {
  readonly #key: SessionKey;
  readonly #agent: Agent | Error;
  readonly #services: InspectionServices;

  /** @param agent an error: the agent of the session is not known here, and only its journal can be read */
  constructor(key: SessionKey, agent: Agent | Error, services: InspectionServices) {
    this.#key = key;
    this.#agent = agent;
    this.#services = services;
  }

  get #names(): NamedNet {
    return this.#agent instanceof Error ? NO_NET : this.#agent.compiled;
  }

  /** @throws the error that was passed instead of the agent */
  #getAgent(): Agent {
    if (this.#agent instanceof Error) throw this.#agent;
    return this.#agent;
  }

  records(after: RecordSeq = 0, options: RecordsOptions = {}): AsyncIterable<InspectedRecord> {
    checkOptions(RECORDS_OPTIONS, options);
    assertPosition('after', after);
    const { values = 'full', limit = Infinity, follow = false, signal } = options;
    checkChoice('values', values, VALUE_DETAILS);
    if (limit !== Infinity && (!Number.isSafeInteger(limit) || limit < 1))
      throw new InvalidInputError('limit', `must be a whole number of at least 1; it is ${limit}.`);
    return this.#readRecords(after, { values, limit, follow, signal });
  }

  async *#readRecords(
    after: RecordSeq,
    {
      follow,
      ...options
    }: {
      readonly values: ValueDetail;
      readonly limit: number;
      readonly follow: boolean;
      readonly signal: AbortSignal | undefined;
    },
  ): AsyncGenerator<InspectedRecord, void, undefined> {
    const { store, history, onChange, isClosed, onWaiting } = this.#services;
    const row = await this.#findRow();
    const base = { store, history, row, net: this.#names, after, ...options };
    if (!follow) {
      yield* readRecords({ ...base, waitForMore: async () => false });
      return;
    }
    let changed = true;
    let notify = (): void => {};
    const listener = (): void => {
      changed = true;
      notify();
    };
    // Subscribes before the first read, so that no record is missed.
    const unsubscribe = onChange(this.#key, listener);
    options.signal?.addEventListener('abort', listener);
    const waitForMore = async (): Promise<boolean> => {
      if (!changed && !isClosed()) {
        onWaiting(true);
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
        onWaiting(false);
      }
      changed = false;
      return !isClosed();
    };
    try {
      yield* readRecords({ ...base, waitForMore });
    } finally {
      options.signal?.removeEventListener('abort', listener);
      unsubscribe();
    }
  }

  async markingAt(record?: RecordSeq, options: MarkingOptions = {}): Promise<InspectedMarking> {
    checkOptions(MARKING_OPTIONS, options);
    const { values = 'full' } = options;
    checkChoice('values', values, VALUE_DETAILS);
    if (record !== undefined) assertPosition('record', record);
    const row = await this.#findRow();
    const { marking, step } = await this.#services.history.markingAt(row, this.#names, record);
    return inspectMarking(marking, step, values);
  }

  async net(options: NetOptions = {}): Promise<NetDescription> {
    checkOptions(NET_OPTIONS, options);
    if (options.layout !== undefined) checkChoice('layout', options.layout, LAYOUT_ENGINES);
    const { compiled, net } = this.#getAgent();
    return describeNet(compiled, net, options);
  }

  async modelRequest(firing: RecordSeq): Promise<InspectedModelRequest> {
    assertPosition('firing', firing);
    const agent = this.#getAgent();
    const row = await this.#findRow();
    const after = await this.#services.history.markingAt(row, agent.compiled, firing);
    const host: AgentHost = {
      sessionKey: this.#key,
      services: this.#services.getTools(this.#key),
      readPromptFormat: () => readPromptFormat(after.marking),
    };
    return rebuildModelRequest(after, agent, host, (seq) => `${row.uid}/${seq}`);
  }

  forkPoints(after?: Seq): AsyncIterable<ForkPoint> {
    if (after !== undefined) assertPosition('after', after);
    return readForkPoints(this.#services.store, this.#key, after ?? -1);
  }

  async #findRow(): Promise<SessionRow> {
    const row = await this.#services.store.find(this.#key);
    if (row === undefined) throw new SessionNotFoundError(this.#key, true);
    return row;
  }
}

/** @throws InvalidInputError unless the value is a whole number of at least 0 */
function assertPosition(field: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new InvalidInputError(
    field,
    `must be a whole number of at least 0; it is ${describeValue(value)}.`,
  );
}
