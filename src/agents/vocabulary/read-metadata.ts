import type { InvocationId } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { listIn, mapIn, valuesIn } from '../../net/index.ts';
import type { Marking } from '../../net/index.ts';
import { conversation } from './conversation.ts';
import type { ConversationItem } from './conversation.ts';
import { findUserItem } from './find-user-content.ts';
import type { MessageMetadata } from './message-metadata.ts';
import { state } from './state.ts';
import { readTempMetadata } from './temp-metadata.ts';
import { turnCurrent } from './turn.ts';

/** Reads the metadata of the message that started an invocation, while its turn runs. */
export type MetadataReader = (marking: Marking, invocationId: InvocationId) => MessageMetadata;

/**
 * Creates a reader that searches the conversation once for each message, because a turn reads its metadata several
 * times. A spoken turn has its run config itself.
 */
export function createMetadataReader(): MetadataReader {
  // The array of a list only grows: any other change makes a new one.
  let foundIn: readonly unknown[] | undefined;
  let found: ConversationItem | undefined;
  const findItem = (marking: Marking, invocationId: InvocationId): ConversationItem | undefined => {
    const { items } = listIn(marking, conversation.name);
    if (foundIn === items && found?.invocationId === invocationId) return found;
    foundIn = items;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each item passed the schema of the place
    found = findUserItem(items as unknown as readonly ConversationItem[], invocationId);
    return found;
  };
  return (marking, invocationId) => {
    const metadata =
      findItem(marking, invocationId)?.metadata ?? readTempMetadata(mapIn(marking, state.name));
    const turn = valuesIn(marking, turnCurrent).find((one) => one.invocationId === invocationId);
    return { ...metadata, ...omitUndefined({ runConfig: turn?.runConfig }) };
  };
}
