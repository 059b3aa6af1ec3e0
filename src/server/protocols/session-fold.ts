import { calledAgentWaits, isJsonObject, isTextPart } from '../../core/index.ts';
import type {
  CalledAgentWait,
  CallId,
  Content,
  Json,
  LogEvent,
  LogEventByType,
  LoggedError,
  PartialEvent,
} from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import type {
  AgentMessageUpdate,
  SessionUpdate,
  TextDelta,
  TextKind,
  OpenCall,
} from './session-update.ts';

/** An update, and whether the reader has it already. */
export interface FoldedUpdate {
  readonly update: SessionUpdate;
  /** False: it shows text in progress, which the log does not have. Its frames have no numbers of their own. */
  readonly isStored: boolean;
  /** True: its content was sent in pieces before. It counts for the numbers of frames, and is not sent. */
  readonly isShown: boolean;
  /** How much of the texts in progress is sent with this update. Default: all that there is. */
  readonly previews?: PreviewLengths;
}

/** How much of the texts in progress a reader has, by message and kind. */
export type PreviewLengths = ReadonlyMap<string, number>;

interface Preview {
  readonly messageId: string;
  readonly kind: TextKind;
  readonly invocationId: string;
  readonly author: string;
  readonly branch: string | undefined;
  text: string | undefined;
  length: number;
}

interface KnownCall {
  readonly name: string;
  readonly args: OpenCall['args'];
  readonly needs: LogEventByType<'tool.call'>['needs'];
  request?: Json | undefined;
  isPending?: boolean;
  isApproved?: boolean;
}

const KINDS: readonly TextKind[] = ['thinking', 'text'];

/**
 * Folds the log of a session, from the start of a turn on, into updates. The updates of a log entry and the ids in them
 * are the same however often the log is read, and whether or not its text was sent in pieces before.
 */
export class SessionFold {
  /** How many messages each agent has completed in each invocation. */
  readonly #messageCounts = new Map<string, number>();
  /** How often the models of an invocation were called again. */
  readonly #attempts = new Map<string, number>();
  /** Texts in progress. */
  readonly #previews = new Map<string, Preview>();
  readonly #calls = new Map<CallId, KnownCall>();
  /** The last error of each invocation. */
  readonly #errors = new Map<string, LoggedError>();

  /** The updates that show a log entry. */
  add(event: LogEvent): readonly FoldedUpdate[] {
    switch (event.type) {
      case 'agent.message':
        return this.#addMessage(event);
      case 'model.attempt':
      case 'turn.rescheduled': {
        const { invocationId } = event;
        const dropped = this.#drop(
          (preview, key) =>
            preview.invocationId === invocationId &&
            key === this.#toKey(invocationId, preview.branch ?? preview.author, preview.kind),
        );
        this.#attempts.set(invocationId, (this.#attempts.get(invocationId) ?? 0) + 1);
        return [...dropped, toStored(event)];
      }
      case 'turn.ended':
        // An interrupted message is not stored.
        return [
          ...this.#drop((preview) => preview.invocationId === event.invocationId),
          toStored(event),
        ];
      case 'session.completed':
      case 'session.archived':
        return [...this.#drop(() => true), toStored(event)];
      case 'tool.call': {
        const { callId, name, args, needs } = event;
        this.#calls.set(callId, { name, args, needs });
        break;
      }
      case 'tool.pending': {
        const call = this.#calls.get(event.callId);
        if (call !== undefined) Object.assign(call, { request: event.request, isPending: true });
        break;
      }
      case 'tool.answered': {
        const call = this.#calls.get(event.callId);
        if (call !== undefined) call.isApproved = event.decision === 'approved';
        break;
      }
      case 'error':
        if (event.invocationId !== undefined)
          this.#errors.set(event.invocationId, { code: event.code, message: event.message });
        break;
      default:
    }
    return [toStored(event)];
  }

  /** The updates for a piece of text that is not stored yet. A piece that does not continue the others is left out. */
  preview(event: PartialEvent): readonly FoldedUpdate[] {
    if (event.type === 'partial.reset') return [];
    const { kind, invocationId, author = '', branch, text, offset, callId } = event;
    if (kind === 'progress')
      return callId === undefined
        ? []
        : [toPreview({ type: 'tool.progress', invocationId, callId, text })];
    const key = this.#toKey(invocationId, branch ?? author, kind);
    const known = this.#previews.get(key);
    const length = known?.length ?? 0;
    const isNext = offset !== undefined && offset <= length && offset + text.length > length;
    if (!isNext) return [];
    const preview = known ?? {
      messageId: this.#nextMessageId(invocationId, branch ?? author),
      kind,
      invocationId,
      author,
      branch,
      text: '',
      length: 0,
    };
    const piece = text.slice(length - offset);
    preview.length += piece.length;
    if (preview.text !== undefined) preview.text += piece;
    this.#previews.set(key, preview);
    const position = toPosition(preview);
    const delta = toPreview({ type: 'text.delta', ...position, text: piece });
    if (known !== undefined) return [delta];
    // A reader that has only the start still needs the first piece.
    const previews = new Map([...this.previewLengths, [key, 0]]);
    return [{ ...toPreview({ type: 'text.start', ...position }), previews }, delta];
  }

  /** Continues texts in progress of which the reader has so many characters. Call it first. */
  resumePreviews(lengths: PreviewLengths): void {
    for (const [key, length] of lengths) {
      const [, invocationId, branch, count, attempts, kind] =
        /^(\S+) (.*) (\d+)\.(\d+) (text|thinking)$/.exec(key) ?? [];
      if (invocationId === undefined || branch === undefined) continue;
      this.#previews.set(key, {
        messageId: toMessageId(invocationId, branch, Number(count), Number(attempts)),
        kind: kind === 'text' ? 'text' : 'thinking',
        invocationId,
        author: branch,
        branch: undefined,
        text: undefined,
        length,
      });
    }
  }

  /** How much of the texts in progress was sent. */
  get previewLengths(): PreviewLengths {
    return new Map([...this.#previews].map(([key, { length }]) => [key, length]));
  }

  /** The calls of a wait that clients can answer, also those of called agents. */
  waits(callIds: readonly CallId[]): readonly OpenCall[] {
    return callIds.flatMap((callId): readonly OpenCall[] => {
      const call = this.#calls.get(callId);
      if (call === undefined) return this.#listCalledWaits().filter((one) => one.callId === callId);
      const { name, args, request } = call;
      const nested = calledAgentWaits(request);
      if (nested !== undefined) return nested.map(toCalledWait);
      // A call that needed nothing and did not ask waits because its process died.
      const isCrash = call.needs === 'nothing' && call.isPending !== true;
      const isApproval = isCrash || (call.needs === 'approval' && call.isApproved !== true);
      return [
        {
          callId,
          name,
          args,
          needs: isApproval && call.isPending !== true ? 'approval' : 'result',
          reason: isCrash ? 'crash' : 'policy',
          path: [],
          ...omitUndefined({ request }),
        },
      ];
    });
  }

  /** The calls that called agents wait for. */
  #listCalledWaits(): readonly OpenCall[] {
    return [...this.#calls.values()].flatMap(({ request }) =>
      (calledAgentWaits(request) ?? []).map(toCalledWait),
    );
  }

  /** The last error of an invocation. */
  findError(invocationId: string): LoggedError | undefined {
    return this.#errors.get(invocationId);
  }

  #addMessage(event: LogEventByType<'agent.message'>): readonly FoldedUpdate[] {
    const { invocationId, author, branch, content } = event;
    const speaker = branch ?? author;
    const ownId = this.#nextMessageId(invocationId, speaker);
    const texts = new Map(KINDS.map((kind) => [kind, joinText(content, kind)]));
    // A callback changed the answer after its pieces were sent.
    const isChanged = KINDS.some((kind) => {
      const preview = this.#previews.get(this.#toKey(invocationId, speaker, kind));
      const text = texts.get(kind) ?? '';
      return preview?.text === undefined
        ? (preview?.length ?? 0) > text.length
        : !text.startsWith(preview.text);
    });
    const dropped = isChanged ? this.#drop((one) => one.messageId === ownId) : [];
    const messageId = isChanged ? `${ownId}-changed` : ownId;
    const updates = KINDS.flatMap((kind): readonly FoldedUpdate[] => {
      const key = this.#toKey(invocationId, speaker, kind);
      const shown = this.#previews.get(key)?.length;
      // A reader that has only a part of these updates has the later texts of the message as they were sent.
      const previews = this.previewLengths;
      this.#previews.delete(key);
      const text = texts.get(kind) ?? '';
      if (text === '') return [];
      const position = { messageId, kind, invocationId, author, ...omitUndefined({ branch }) };
      const rest = text.slice(shown ?? 0);
      const delta: TextDelta = { type: 'text.delta', ...position, text: rest === '' ? text : rest };
      return [
        { ...toStored({ type: 'text.start', ...position }, shown !== undefined), previews },
        { ...toStored(delta, rest === ''), previews },
        { ...toStored({ type: 'text.end', ...position }), previews },
      ];
    });
    const count = toSpeakerKey(invocationId, speaker);
    this.#messageCounts.set(count, (this.#messageCounts.get(count) ?? 0) + 1);
    const message: AgentMessageUpdate = { ...event, messageId };
    return [...dropped, ...updates, toStored(message)];
  }

  /** Withdraws texts in progress. */
  #drop(isDropped: (preview: Preview, key: string) => boolean): readonly FoldedUpdate[] {
    return [...this.#previews].flatMap(([key, preview]) => {
      if (!isDropped(preview, key)) return [];
      this.#previews.delete(key);
      return [toPreview({ type: 'text.dropped', ...toPosition(preview) })];
    });
  }

  #nextMessageId(invocationId: string, speaker: string): string {
    const { count, attempts } = this.#countMessage(invocationId, speaker);
    return toMessageId(invocationId, speaker, count, attempts);
  }

  /** Names the text or the thoughts of the message that an agent makes now. */
  #toKey(invocationId: string, speaker: string, kind: TextKind): string {
    const { count, attempts } = this.#countMessage(invocationId, speaker);
    return `${invocationId} ${speaker} ${count}.${attempts} ${kind}`;
  }

  #countMessage(
    invocationId: string,
    speaker: string,
  ): { readonly count: number; readonly attempts: number } {
    return {
      count: this.#messageCounts.get(toSpeakerKey(invocationId, speaker)) ?? 0,
      attempts: this.#attempts.get(invocationId) ?? 0,
    };
  }
}

function toCalledWait(wait: CalledAgentWait): OpenCall {
  const { callId, name, args, needs, reason = 'policy', path, request } = wait;
  return {
    callId,
    name,
    args: isJsonObject(args) ? args : {},
    needs,
    reason,
    path,
    ...omitUndefined({ request }),
  };
}

function toMessageId(
  invocationId: string,
  speaker: string,
  count: number,
  attempts: number,
): string {
  return `${invocationId}-${speaker}-${count}${attempts === 0 ? '' : `-${attempts}`}`;
}

/** An update of the log. */
export function toStored(update: SessionUpdate, isShown = false): FoldedUpdate {
  return { update, isStored: true, isShown };
}

function toPreview(update: SessionUpdate): FoldedUpdate {
  return { update, isStored: false, isShown: false };
}

function toPosition({
  messageId,
  kind,
  invocationId,
  author,
  branch,
}: Preview): Omit<TextDelta, 'type' | 'text'> {
  return { messageId, kind, invocationId, author, ...omitUndefined({ branch }) };
}

function joinText({ parts }: Content, kind: TextKind): string {
  return parts
    .map((part) =>
      isTextPart(part) && (part.thought === true) === (kind === 'thinking') ? part.text : '',
    )
    .join('');
}

function toSpeakerKey(invocationId: string, speaker: string): string {
  return `${invocationId} ${speaker}`;
}
