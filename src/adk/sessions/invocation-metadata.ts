import { isJsonObject } from '../../core/index.ts';
import type { Event, InvocationId, JsonObject, SessionUid } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';

const KIND = 'adk.metadata';
/** Above this number of invocations, one listing of the session replaces single reads. */
const MAX_SINGLE_READS = 64;

/** Saves the custom metadata of an invocation. Call it before the invocation starts. */
export async function saveMetadata(
  store: Store,
  uid: SessionUid,
  invocationId: InvocationId,
  value: JsonObject,
): Promise<void> {
  if (Object.keys(value).length === 0) return;
  await store.writeDocuments([{ kind: KIND, id: `${uid}/${invocationId}`, version: 0, value }]);
}

/** Adds the saved metadata to the events of their invocations. */
export async function addSavedMetadata(
  store: Store,
  uid: SessionUid,
  events: readonly Event[],
): Promise<readonly Event[]> {
  const invocations = [...new Set(events.map(({ invocationId }) => invocationId))].filter(Boolean);
  const saved =
    invocations.length > MAX_SINGLE_READS
      ? await store.documents({ kind: KIND, prefix: `${uid}/` })
      : (
          await Promise.all(invocations.map(async (id) => store.document(KIND, `${uid}/${id}`)))
        ).filter((one) => one !== undefined);
  if (saved.length === 0) return events;
  const byInvocation = new Map(saved.map(({ id, value }) => [id.slice(uid.length + 1), value]));
  return events.map((event) => {
    const metadata = byInvocation.get(event.invocationId);
    return isJsonObject(metadata) ? addCustomMetadata(event, metadata) : event;
  });
}

/** Deletes the metadata of a deleted session. */
export async function deleteMetadata(store: Store, uid: SessionUid): Promise<void> {
  const saved = await store.documents({ kind: KIND, prefix: `${uid}/` });
  await store.writeDocuments(saved.map(({ id, version }) => ({ kind: KIND, id, version })));
}

export function addCustomMetadata(event: Event, metadata: JsonObject): Event {
  return Object.keys(metadata).length === 0
    ? event
    : { ...event, customMetadata: { ...event.customMetadata, ...metadata } };
}
