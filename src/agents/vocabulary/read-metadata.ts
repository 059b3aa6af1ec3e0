import type { InvocationId } from '../../core/index.ts';
import { listIn, mapIn } from '../../net/index.ts';
import type { Marking } from '../../net/index.ts';
import { conversation } from './conversation.ts';
import type { ConversationItem } from './conversation.ts';
import { findUserItem } from './find-user-content.ts';
import type { MessageMetadata } from './message-metadata.ts';
import { state } from './state.ts';
import { readTempMetadata } from './temp-metadata.ts';

/** The metadata of the message that started an invocation, while its turn runs. */
export function readMetadata(marking: Marking, invocationId: InvocationId): MessageMetadata {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each item passed the schema of the place
  const items = listIn(marking, conversation.name).items as unknown as readonly ConversationItem[];
  return (
    findUserItem(items, invocationId)?.metadata ?? readTempMetadata(mapIn(marking, state.name))
  );
}
