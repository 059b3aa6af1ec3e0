import { formatSessionKey, InvalidInputError, parseSessionKey } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { StoreNotEmptyError, SessionExistsError } from '../store-errors.ts';
import type { CommitResult, SessionInit, SettledStep } from '../store.ts';
import type {
  DocumentItem,
  ItemImportOptions,
  InputItem,
  SessionItem,
  SharedItem,
  SnapshotItem,
  StepItem,
  StoreItem,
  TombstoneItem,
  UsageItem,
} from '../store-item.ts';

/** The owner of a session while it is imported. Nobody joins with this id. */
const IMPORT_OWNER = 'import';
/** The epoch of a session while it is imported. */
const IMPORT_EPOCH = 1;
const STEPS_PER_COMMIT = 64;

/** Writes items in one open transaction. */
export interface ItemWriter {
  readonly location: string;
  isEmpty(): Promise<boolean>;
  /** Creates the session with `IMPORT_OWNER` and epoch 1. False: it exists. */
  createSession(item: SessionItem): Promise<boolean>;
  /** True if a session of another key, deleted or not, has this uid. */
  isUidOfOther(item: Pick<SessionItem, 'key' | 'uid'>): Promise<boolean>;
  /** Appends an input to the session that was created last. */
  addInput(session: SessionItem, item: InputItem): Promise<void>;
  commit(steps: readonly SettledStep[]): Promise<readonly CommitResult[]>;
  /** Takes the session from its owner, and sets its failed attempts. */
  releaseSession(session: SessionItem): Promise<void>;
  addDocument(item: DocumentItem): Promise<void>;
  addShared(item: SharedItem): Promise<void>;
  addTombstone(item: TombstoneItem): Promise<void>;
  addUsage(item: UsageItem): Promise<void>;
}

/** With what the session of an item is created. Its steps set when it is due next; one without steps may start itself. */
export function toImportedInit({
  uid,
  agent,
  netHash,
  createdAt: at,
  nextDueAt,
}: SessionItem): SessionInit & { readonly uid: string } {
  const init = { uid, agent, netHash, at, owner: IMPORT_OWNER };
  return nextDueAt === null ? init : { ...init, nextDueAt };
}

/**
 * Writes items in the open transaction. Returns the keys of the sessions.
 * @throws StoreNotEmptyError, SessionExistsError, InvalidStepError, InvalidInputError
 */
export async function writeItems(
  items: AsyncIterable<StoreItem>,
  writer: ItemWriter,
  { isWholeStore = false }: ItemImportOptions,
): Promise<readonly SessionKey[]> {
  if (isWholeStore && !(await writer.isEmpty())) throw new StoreNotEmptyError(writer.location);
  const keys: SessionKey[] = [];
  let session: SessionImport | undefined;
  for await (const item of items) {
    if (isPartOfSession(item)) {
      if (session === undefined)
        throw new InvalidInputError('items', `must have a session before its ${item.type}.`);
      await session.add(item);
      continue;
    }
    await session?.finish();
    session = undefined;
    if (item.type === 'session') {
      session = await SessionImport.begin(writer, item);
      // Names of effects and of readers' positions are made of the uid. A forged one would reach those of another session.
      if (!isWholeStore && (await writer.isUidOfOther(item)))
        throw new InvalidInputError(
          'items',
          `must not have the uid of another session: session "${formatSessionKey(item.key)}" has "${item.uid}".`,
        );
      keys.push(item.key);
    } else if (item.type === 'document') await writer.addDocument(item);
    else if (item.type === 'shared') await writer.addShared(item);
    else if (item.type === 'tombstone') await writer.addTombstone(item);
    else await writer.addUsage(item);
  }
  await session?.finish();
  return keys;
}

type PartOfSession = InputItem | SnapshotItem | StepItem;

function isPartOfSession(item: StoreItem): item is PartOfSession {
  return item.type === 'input' || item.type === 'snapshot' || item.type === 'step';
}

/** Commits the steps of one session. */
class SessionImport {
  readonly #writer: ItemWriter;
  readonly #session: SessionItem;
  #snapshot: SnapshotItem | undefined;
  #steps: SettledStep[] = [];
  #head = 0;
  #inputs = 0;

  /** @throws SessionExistsError */
  static async begin(writer: ItemWriter, session: SessionItem): Promise<SessionImport> {
    parseSessionKey(session.key);
    if (!(await writer.createSession(session))) throw new SessionExistsError(session.key);
    return new SessionImport(writer, session);
  }

  private constructor(writer: ItemWriter, session: SessionItem) {
    this.#writer = writer;
    this.#session = session;
  }

  async add(item: PartOfSession): Promise<void> {
    if (item.type === 'snapshot') this.#snapshot = item;
    else if (item.type === 'input') {
      this.#checkNext('input', item.inputSeq, ++this.#inputs);
      await this.#writer.addInput(this.#session, item);
    } else {
      this.#checkNext('step', item.step, ++this.#head);
      this.#steps.push(this.#toSettledStep(item));
      if (this.#steps.length === STEPS_PER_COMMIT) await this.#commit();
    }
  }

  async finish(): Promise<void> {
    await this.#commit();
    this.#checkNext('last step', this.#head, this.#session.head);
    await this.#writer.releaseSession(this.#session);
  }

  async #commit(): Promise<void> {
    if (this.#steps.length === 0) return;
    const results = await this.#writer.commit(this.#steps);
    this.#steps = [];
    if (results.every(({ ok }) => ok)) return;
    throw new SessionExistsError(this.#session.key);
  }

  #toSettledStep({ type: _type, ...step }: StepItem): SettledStep {
    const { key, uid, inboxUpTo, head, status, activity, inFlight, nextDueAt, pending, netHash } =
      this.#session;
    const snapshot = this.#snapshot?.step === step.step ? this.#snapshot.marking : undefined;
    return {
      ...step,
      key,
      uid,
      owner: IMPORT_OWNER,
      epoch: IMPORT_EPOCH,
      inboxUpTo: step.step === head ? inboxUpTo : 0,
      summary: { status, activity, inFlight, nextDueAt, pending, netHash },
      ...omitUndefined({ snapshot }),
    };
  }

  #checkNext(part: string, number: number, expected: number): void {
    if (number === expected) return;
    throw new InvalidInputError(
      'items',
      `must continue session "${formatSessionKey(this.#session.key)}": ${part} is ${number}; expected ${expected}.`,
    );
  }
}
