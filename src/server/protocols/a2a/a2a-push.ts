import * as v from 'valibot';
import { isJsonObject, sha256Hex } from '../../../core/index.ts';
import type { JsonObject, LogEvent } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { parseJsonWithSchema } from '../../../core/validation/parse-with-schema.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import type { PushFormat, PushMessage, PushTarget } from '../../webhooks/push-format.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';
import { formatTaskId } from './task-id.ts';
import type { TaskRef } from './task-id.ts';
import type { TaskStateName } from './task-view.ts';

const PROTOCOL = 'a2a';

interface PushConfig {
  readonly id?: string | undefined;
  readonly url: string;
  readonly token?: string | undefined;
  readonly authentication?:
    | { readonly scheme: string; readonly credentials?: string | undefined }
    | undefined;
}

const pushConfig: v.GenericSchema<unknown, PushConfig> = v.looseObject({
  id: v.optional(nonEmptyText(128)),
  url: nonEmptyText(2048),
  token: v.optional(nonEmptyText(4096)),
  authentication: v.optional(
    v.looseObject({ scheme: nonEmptyText(64), credentials: v.optional(nonEmptyText(4096)) }),
  ),
});

/**
 * Subscribes an address to a task. A repetition has no effect; another configuration with the same id replaces it.
 * Returns the configuration, with its id and without its credentials.
 * @throws InvalidInputError when the address is not allowed; SecretKeyError when credentials cannot be encrypted
 */
export async function savePushConfig(
  { webhooks, clock }: ServerContext,
  workspace: string,
  {
    task,
    value,
    version,
  }: { readonly task: TaskRef; readonly value: unknown; readonly version: string },
): Promise<JsonObject> {
  const config = parseJsonWithSchema(pushConfig, value, 'taskPushNotificationConfig');
  const { url } = config;
  const configId = config.id ?? `push_${sha256Hex(url).slice(0, 16)}`;
  const id = toWebhookId(task, configId);
  const secret = toSecret(config);
  const push: PushTarget = { protocol: PROTOCOL, ...task, configId, version };
  const webhook: Webhook = { id, url, events: [], tools: [], secret, createdAt: clock.now(), push };
  const stored = await webhooks.add(workspace, webhook);
  if (stored.url !== url || stored.secret !== secret) {
    await webhooks.remove(workspace, id);
    await webhooks.add(workspace, webhook);
  }
  return toConfigJson(webhook);
}

/** The configurations of a task, without their credentials. */
export async function listPushConfigs(
  { webhooks }: ServerContext,
  workspace: string,
  task: TaskRef,
): Promise<readonly JsonObject[]> {
  return (await webhooks.list(workspace))
    .filter(({ push }) => push?.protocol === PROTOCOL && formatTaskId(push) === formatTaskId(task))
    .map(toConfigJson);
}

/** Returns false if there is no such configuration. */
export async function removePushConfig(
  { webhooks }: ServerContext,
  workspace: string,
  { task, configId }: { readonly task: TaskRef; readonly configId: string },
): Promise<boolean> {
  return webhooks.remove(workspace, toWebhookId(task, configId));
}

/** Pushes each change of the state of a task. The client reads the rest with `GetTask`. */
export const a2aPushFormat: PushFormat = {
  toMessage: (target, event) => {
    const state = toState(event);
    if (state === undefined) return undefined;
    const isLast = !['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED'].includes(state);
    return { body: toBody(target, state, event), isLast };
  },
  toHeaders: (secret, { version }) => {
    const stored: unknown = secret === '' ? {} : JSON.parse(secret);
    const { token, scheme, credentials } = isJsonObject(stored) ? stored : {};
    return {
      'content-type': version === '1.0' ? 'application/a2a+json' : 'application/json',
      ...(typeof token === 'string' && { 'x-a2a-notification-token': token }),
      ...(typeof scheme === 'string' && {
        authorization: [scheme, credentials].filter((part) => typeof part === 'string').join(' '),
      }),
    };
  },
};

function toBody(target: PushTarget, state: TaskStateName, { at }: LogEvent): PushMessage['body'] {
  const taskId = formatTaskId(target);
  const { sessionId: contextId } = target;
  const timestamp = new Date(at).toISOString();
  if (target.version === '1.0')
    return { statusUpdate: { taskId, contextId, status: { state, timestamp } } };
  const name = state.slice('TASK_STATE_'.length).toLowerCase().replaceAll('_', '-');
  return { kind: 'task', id: taskId, contextId, status: { state: name, timestamp } };
}

function toState(event: LogEvent): TaskStateName | undefined {
  switch (event.type) {
    case 'turn.started':
    case 'turn.resumed':
      return 'TASK_STATE_WORKING';
    case 'turn.waiting':
      return 'TASK_STATE_INPUT_REQUIRED';
    case 'turn.ended':
      if (event.stopReason === 'interrupted') return 'TASK_STATE_CANCELED';
      return event.stopReason === 'error' || event.stopReason === 'retries_exhausted'
        ? 'TASK_STATE_FAILED'
        : 'TASK_STATE_COMPLETED';
    case 'session.completed':
    case 'session.archived':
      return 'TASK_STATE_CANCELED';
    default:
      return undefined;
  }
}

function toWebhookId(task: TaskRef, configId: string): string {
  return `a2a_${sha256Hex(`${formatTaskId(task)}/${configId}`).slice(0, 32)}`;
}

function toSecret({ token, authentication }: PushConfig): string {
  const { scheme, credentials } = authentication ?? {};
  const fields = omitUndefined({ token, scheme, credentials });
  return Object.keys(fields).length === 0 ? '' : JSON.stringify(fields);
}

function toConfigJson({ url, push }: Webhook): JsonObject {
  if (push === undefined) return { url };
  return { id: push.configId, taskId: formatTaskId(push), url };
}
