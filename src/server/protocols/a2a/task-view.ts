import { isJsonObject } from '../../../core/index.ts';
import type { Content, Json, JsonObject, Part } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { OpenCall, RunEnded, SessionUpdate } from '../session-update.ts';
import { formatTaskId } from './task-id.ts';
import type { TaskRef } from './task-id.ts';

/** The states of a task that a session can have. */
export type TaskStateName =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_AUTH_REQUIRED'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_FAILED';

const TERMINAL: ReadonlySet<TaskStateName> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_FAILED',
]);

/** What of a task is shown. */
export interface TaskShape {
  /** At most this many of its newest messages. Default: all. */
  readonly historyLength?: number | undefined;
  /** Default: true. */
  readonly includeArtifacts?: boolean | undefined;
}

interface ArtifactText {
  readonly name: string;
  text: string;
  readonly files: JsonObject[];
}

/**
 * Folds the updates of a session into a task, and maps each to the responses of a stream. Both have the JSON form of
 * A2A 1.0. The number of responses of an update does not depend on what was folded before.
 */
export class TaskView {
  readonly id: string;
  readonly contextId: string;
  readonly #invocationId: string;
  #state: TaskStateName;
  #timestamp: string | undefined;
  #message: JsonObject | undefined;
  #usage: Json | undefined;
  readonly #history: JsonObject[] = [];
  readonly #artifacts = new Map<string, ArtifactText>();

  /** @param state the state before the first update */
  constructor(task: TaskRef, state: TaskStateName = 'TASK_STATE_SUBMITTED') {
    this.#state = state;
    this.id = formatTaskId(task);
    this.contextId = task.sessionId;
    this.#invocationId = task.invocationId;
  }

  get state(): TaskStateName {
    return this.#state;
  }

  /** When the state was reached, as ISO 8601. */
  get timestamp(): string | undefined {
    return this.#timestamp;
  }

  /** True: the task has ended, and takes no more messages. */
  get isTerminal(): boolean {
    return TERMINAL.has(this.#state);
  }

  /** True: the task waits for its client. */
  get isWaiting(): boolean {
    return (
      this.#state === 'TASK_STATE_INPUT_REQUIRED' || this.#state === 'TASK_STATE_AUTH_REQUIRED'
    );
  }

  /** Adds a message of the user that the log does not have yet. */
  addUserMessage(messageId: string, content: Content): void {
    this.#history.push(this.#toMessage('ROLE_USER', messageId, content.parts.flatMap(toParts)));
  }

  /** The task as it is now. */
  toTask({ historyLength, includeArtifacts = true }: TaskShape = {}): JsonObject {
    const history =
      historyLength === undefined
        ? this.#history
        : this.#history.slice(Math.max(0, this.#history.length - historyLength));
    const artifacts = [...this.#artifacts].map(([artifactId, { name, text, files }]) => ({
      artifactId,
      name,
      parts: [...(text === '' && files.length > 0 ? [] : [{ text }]), ...files],
    }));
    return {
      id: this.id,
      contextId: this.contextId,
      status: this.#toStatus(),
      ...(history.length > 0 && { history: [...history] }),
      ...(includeArtifacts && artifacts.length > 0 && { artifacts }),
      ...omitUndefined({
        metadata: this.#usage === undefined ? undefined : { usage: this.#usage },
      }),
    };
  }

  /** Adds an update. Returns the stream responses that show it. */
  apply(update: SessionUpdate): readonly JsonObject[] {
    if ('at' in update) this.#timestamp = new Date(update.at).toISOString();
    switch (update.type) {
      case 'run.started':
        return [{ task: this.toTask() }];
      case 'user.message':
        this.addUserMessage(update.messageId, update.content);
        return [];
      case 'turn.started':
      case 'turn.resumed':
        return [this.#setStatus('TASK_STATE_WORKING')];
      case 'text.start':
        if (update.kind === 'thinking') return [];
        return [this.#toArtifact(update.messageId, this.#start(update), '', false)];
      case 'text.delta': {
        if (update.kind === 'thinking') return [];
        const artifact = this.#artifacts.get(update.messageId) ?? this.#start(update);
        artifact.text += update.text;
        return [this.#toArtifact(update.messageId, artifact, update.text, true)];
      }
      case 'text.end': {
        if (update.kind === 'thinking') return [];
        const artifact = this.#artifacts.get(update.messageId) ?? this.#start(update);
        return [
          {
            artifactUpdate: {
              ...this.#toChunk(update.messageId, artifact, [{ text: '' }]),
              append: true,
              lastChunk: true,
            },
          },
        ];
      }
      case 'text.dropped': {
        if (update.kind === 'thinking') return [];
        this.#artifacts.delete(update.messageId);
        const chunk = this.#toChunk(update.messageId, { name: update.author }, [{ text: '' }]);
        return [{ artifactUpdate: { ...chunk, lastChunk: true, metadata: { dropped: true } } }];
      }
      case 'agent.message':
        return this.#addFiles(update.messageId, update.author, update.content);
      case 'tool.call': {
        const { callId, name, args } = update;
        return [this.#setWorking(`${callId}-call`, { type: 'tool_call', callId, name, args })];
      }
      case 'tool.result': {
        const { callId, name, outcome, response } = update;
        const result = { type: 'tool_result', callId, name, outcome, response };
        return [this.#setWorking(`${callId}-result`, result)];
      }
      case 'tool.progress': {
        const data = { type: 'tool_progress', callId: update.callId, text: update.text };
        const message = this.#toAgentMessage(`${update.callId}-progress`, [{ data }]);
        return [this.#toUpdate({ ...this.#toStatus(), state: 'TASK_STATE_WORKING', message })];
      }
      case 'agent.started':
      case 'agent.ended':
      case 'node.started':
      case 'node.ended': {
        const { type, author: name, branch, parent, callId, seq } = update;
        const data = { type: type.replace('.', '_'), name };
        return [
          this.#setWorking(`${this.#invocationId}-${seq}`, {
            ...data,
            ...omitUndefined({ branch, parent, callId }),
          }),
        ];
      }
      case 'run.ended':
        return [this.#end(update)];
      default:
        return [];
    }
  }

  #start({
    messageId,
    author,
  }: {
    readonly messageId: string;
    readonly author: string;
  }): ArtifactText {
    const artifact: ArtifactText = { name: author, text: '', files: [] };
    this.#artifacts.set(messageId, artifact);
    return artifact;
  }

  /** Files in a message of the agent follow its text. */
  #addFiles(messageId: string, name: string, { parts }: Content): readonly JsonObject[] {
    const files = parts.filter((part) => !('text' in part)).flatMap(toParts);
    if (files.length === 0) return [];
    const isNew = !parts.some(
      (part) => 'text' in part && part.thought !== true && part.text !== '',
    );
    const artifact = this.#artifacts.get(messageId) ?? this.#start({ messageId, author: name });
    artifact.files.push(...files);
    const chunk = this.#toChunk(messageId, { name }, files);
    return [{ artifactUpdate: { ...chunk, append: !isNew, lastChunk: true } }];
  }

  #setWorking(messageId: string, data: JsonObject): JsonObject {
    return this.#setStatus('TASK_STATE_WORKING', this.#toAgentMessage(messageId, [{ data }]));
  }

  #end({ outcome, waits, error, usage, isQueued, stopReason }: RunEnded): JsonObject {
    const message = (name: string, parts: readonly JsonObject[]): JsonObject =>
      this.#toAgentMessage(`${this.#invocationId}-${name}`, parts);
    if (usage !== undefined) this.#usage = { ...usage };
    switch (outcome) {
      case 'completed':
        return this.#setStatus(
          'TASK_STATE_COMPLETED',
          stopReason === undefined || stopReason === 'end_turn'
            ? undefined
            : message('stopped', [{ text: `The turn ended: ${stopReason}.` }]),
        );
      case 'interrupted':
        return this.#setStatus('TASK_STATE_CANCELED');
      case 'closed':
        return this.#setStatus(
          'TASK_STATE_CANCELED',
          message('closed', [{ text: 'The session was closed.' }]),
        );
      case 'failed': {
        const text = error?.message ?? 'The turn failed. See the log of the server.';
        const data = { type: 'error', code: error?.code ?? 'unknown' };
        return this.#setStatus('TASK_STATE_FAILED', message('error', [{ text }, { data }]));
      }
      case 'waiting': {
        const [first] = waits;
        const parts = [
          { text: toQuestion(waits) },
          { data: { type: 'waits', calls: waits.map(toCall) } },
        ];
        const asked = message(`waits-${first?.callId ?? ''}`, parts);
        if (isQueued) return this.#setStatus('TASK_STATE_SUBMITTED', asked);
        const isSignIn = waits.some(({ request }) => isSignInRequest(request));
        return this.#setStatus(
          isSignIn ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED',
          asked,
        );
      }
      default:
        return outcome satisfies never;
    }
  }

  #setStatus(state: TaskStateName, message?: JsonObject): JsonObject {
    if (this.#message !== undefined) this.#history.push(this.#message);
    this.#state = state;
    this.#message = message;
    return this.#toUpdate(this.#toStatus());
  }

  #toStatus(): JsonObject {
    return {
      state: this.#state,
      ...omitUndefined({ timestamp: this.#timestamp, message: this.#message }),
    };
  }

  #toUpdate(status: JsonObject): JsonObject {
    return {
      statusUpdate: {
        taskId: this.id,
        contextId: this.contextId,
        status,
        ...omitUndefined({
          metadata: this.#usage === undefined ? undefined : { usage: this.#usage },
        }),
      },
    };
  }

  #toArtifact(
    artifactId: string,
    artifact: Pick<ArtifactText, 'name'>,
    text: string,
    append: boolean,
  ): JsonObject {
    return { artifactUpdate: { ...this.#toChunk(artifactId, artifact, [{ text }]), append } };
  }

  #toChunk(
    artifactId: string,
    { name }: Pick<ArtifactText, 'name'>,
    parts: readonly JsonObject[],
  ): JsonObject {
    return {
      taskId: this.id,
      contextId: this.contextId,
      artifact: { artifactId, name, parts: [...parts] },
    };
  }

  #toAgentMessage(messageId: string, parts: readonly JsonObject[]): JsonObject {
    return this.#toMessage('ROLE_AGENT', messageId, parts);
  }

  #toMessage(role: string, messageId: string, parts: readonly JsonObject[]): JsonObject {
    return { messageId, role, taskId: this.id, contextId: this.contextId, parts: [...parts] };
  }
}

function toParts(part: Part): readonly JsonObject[] {
  if ('text' in part) return part.thought === true ? [] : [{ text: part.text }];
  if ('inlineData' in part) {
    const { data, mimeType, displayName } = part.inlineData;
    return [{ raw: data, mediaType: mimeType, ...omitUndefined({ filename: displayName }) }];
  }
  if ('fileData' in part)
    return [{ url: part.fileData.fileUri, mediaType: part.fileData.mimeType }];
  return [];
}

/** True for a question of a tool that needs a credential. */
function isSignInRequest(request: Json | undefined): boolean {
  return isJsonObject(request) && request['adk_request_credential'] !== undefined;
}

function toQuestion(waits: readonly OpenCall[]): string {
  return waits
    .map(({ name, needs, reason, path }) => {
      const agent = path.length === 0 ? '' : ` of ${path.join(' > ')}`;
      if (needs === 'result') return `${name}${agent} waits for a result.`;
      return reason === 'crash'
        ? `Run ${name}${agent} again? It may have run: the process died during it.`
        : `Approve the call of ${name}${agent}?`;
    })
    .join('\n');
}

function toCall({ callId, name, args, needs, reason, path, request }: OpenCall): JsonObject {
  return { callId, name, args, needs, reason, path: [...path], ...omitUndefined({ request }) };
}
