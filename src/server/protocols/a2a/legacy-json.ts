import { isJsonObject } from '../../../core/index.ts';
import type { Json, JsonObject } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';

/*
 * The JSON of A2A 0.3 over HTTP is that of its protocol buffers. It differs from its JSON-RPC, and the SDK translates it
 * only for Express.
 */

/** A request of 0.3 to send a message, in the form of 1.0. */
export function fromLegacySend(body: JsonObject): JsonObject {
  const message = read(body, 'request') ?? read(body, 'message');
  const configuration = read(body, 'configuration');
  return {
    message: isJsonObject(message) ? fromLegacyMessage(message) : (message ?? null),
    ...(isJsonObject(configuration) && { configuration: fromConfiguration(configuration) }),
    ...omitUndefined({ metadata: read(body, 'metadata') }),
  };
}

function fromConfiguration(configuration: JsonObject): JsonObject {
  const push = read(configuration, 'pushNotification');
  return {
    returnImmediately: read(configuration, 'blocking') !== true,
    ...omitUndefined({
      acceptedOutputModes: read(configuration, 'acceptedOutputModes'),
      historyLength: read(configuration, 'historyLength'),
      taskPushNotificationConfig: isJsonObject(push) ? fromPush(push) : undefined,
    }),
  };
}

function fromLegacyMessage(message: JsonObject): JsonObject {
  const content = read(message, 'content');
  return {
    ...omitUndefined({
      messageId: read(message, 'messageId'),
      contextId: read(message, 'contextId'),
      taskId: read(message, 'taskId'),
      role: message['role'],
      metadata: message['metadata'],
      extensions: message['extensions'],
    }),
    parts: Array.isArray(content) ? content.map(fromPart) : [],
  };
}

function fromPart(part: Json): Json {
  if (!isJsonObject(part)) return part;
  const { file, data, metadata } = part;
  const more = omitUndefined({ metadata });
  if (isJsonObject(file)) {
    const uri = read(file, 'fileWithUri');
    return {
      ...omitUndefined({
        url: uri,
        raw: uri === undefined ? read(file, 'fileWithBytes') : undefined,
        mediaType: read(file, 'mimeType'),
        filename: file['name'],
      }),
      ...more,
    };
  }
  if (isJsonObject(data)) return { data: read(data, 'data') ?? null, ...more };
  return { ...omitUndefined({ text: part['text'] }), ...more };
}

/** A push configuration of 0.3, in the form of 1.0. */
export function fromLegacyPush(body: JsonObject): JsonObject {
  const config = read(body, 'pushNotificationConfig');
  return isJsonObject(config) ? fromPush(config) : {};
}

function fromPush({ id, url, token, authentication }: JsonObject): JsonObject {
  const { schemes, credentials } = isJsonObject(authentication) ? authentication : {};
  const [scheme] = Array.isArray(schemes) ? schemes : [];
  const named = omitUndefined({
    scheme,
    credentials: credentials === '' ? undefined : credentials,
  });
  return {
    ...omitUndefined({ url }),
    ...(id !== undefined && id !== '' && { id }),
    ...(token !== undefined && token !== '' && { token }),
    ...(scheme !== undefined && { authentication: named }),
  };
}

/** A push configuration of 1.0, in the form of 0.3. */
export function toLegacyPush({ id, taskId, url = '' }: JsonObject): JsonObject {
  if (typeof id !== 'string' || typeof taskId !== 'string')
    throw new Error('A push configuration has an id and a task.');
  const name = `tasks/${taskId}/pushNotificationConfigs/${id}`;
  return { name, pushNotificationConfig: { id, url } };
}

/** A task of 1.0, in the form of 0.3. */
export function toLegacyTask(task: JsonObject): JsonObject {
  const { status, history, artifacts, ...rest } = task;
  return {
    ...rest,
    status: toStatus(status),
    ...(Array.isArray(history) && { history: history.map(toMessage) }),
    ...(Array.isArray(artifacts) && { artifacts: artifacts.map(toArtifact) }),
  };
}

/** A response of a stream of 1.0, in the form of 0.3. */
export function toLegacyStreamResponse({
  task,
  statusUpdate,
  artifactUpdate,
}: JsonObject): JsonObject {
  if (isJsonObject(task)) return { task: toLegacyTask(task) };
  if (isJsonObject(statusUpdate)) {
    const { status } = statusUpdate;
    const state = isJsonObject(status) ? status['state'] : undefined;
    const final = typeof state === 'string' && FINAL.has(state);
    return { statusUpdate: { ...statusUpdate, status: toStatus(status), final } };
  }
  if (!isJsonObject(artifactUpdate)) return {};
  const { artifact = null } = artifactUpdate;
  return { artifactUpdate: { ...artifactUpdate, artifact: toArtifact(artifact) } };
}

/** The states with which a stream of 0.3 ends. */
const FINAL: ReadonlySet<string> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_FAILED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
]);

function toStatus(status: Json | undefined): JsonObject {
  if (!isJsonObject(status)) return {};
  const { state, message, ...rest } = status;
  return {
    ...rest,
    ...omitUndefined({ state: state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state }),
    ...(message !== undefined && { update: toMessage(message) }),
  };
}

function toMessage(message: Json): Json {
  if (!isJsonObject(message)) return message;
  const { parts, ...rest } = message;
  return { ...rest, content: Array.isArray(parts) ? parts.map(toPart) : [] };
}

function toArtifact(artifact: Json): Json {
  if (!isJsonObject(artifact)) return artifact;
  const { parts } = artifact;
  return { ...artifact, parts: Array.isArray(parts) ? parts.map(toPart) : [] };
}

function toPart(part: Json): Json {
  if (!isJsonObject(part)) return part;
  const { text, raw, url, data, mediaType, filename, metadata } = part;
  const more = omitUndefined({ metadata });
  if (text !== undefined) return { text, ...more };
  // The data of 0.3 is an object.
  if (data !== undefined)
    return { data: { data: isJsonObject(data) ? data : { value: data } }, ...more };
  const file = omitUndefined({
    fileWithUri: url,
    fileWithBytes: raw,
    mimeType: mediaType,
    name: filename,
  });
  return { file, ...more };
}

/** The extended card of 1.0, in the form of 0.3. */
export function toLegacyCard(card: JsonObject): JsonObject {
  const {
    supportedInterfaces,
    securityRequirements,
    capabilities,
    name,
    description,
    version,
    securitySchemes,
    defaultInputModes,
    defaultOutputModes,
    skills,
  } = card;
  const interfaces = (Array.isArray(supportedInterfaces) ? supportedInterfaces : [])
    .filter(isJsonObject)
    .filter(({ protocolVersion }) => protocolVersion === '0.3')
    .map(({ url = '', protocolBinding: transport = '' }) => ({ url, transport }));
  const security = (Array.isArray(securityRequirements) ? securityRequirements : [])
    .filter(isJsonObject)
    .map(({ schemes }) => ({
      schemes: Object.fromEntries(
        Object.keys(isJsonObject(schemes) ? schemes : {}).map((scheme) => [scheme, { list: [] }]),
      ),
    }));
  const {
    streaming = false,
    pushNotifications = false,
    extensions = [],
  } = isJsonObject(capabilities) ? capabilities : {};
  return {
    protocolVersion: '0.3.0',
    url: interfaces[0]?.url ?? '',
    preferredTransport: interfaces[0]?.transport ?? '',
    additionalInterfaces: interfaces,
    capabilities: { streaming, pushNotifications, extensions },
    supportsAuthenticatedExtendedCard: true,
    security,
    ...omitUndefined({
      name,
      description,
      version,
      securitySchemes,
      defaultInputModes,
      defaultOutputModes,
      skills,
    }),
  };
}

/** A member under its name, or under its name in snake case, which clients may write. */
function read(object: JsonObject, name: string): Json | undefined {
  return object[name] ?? object[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}
