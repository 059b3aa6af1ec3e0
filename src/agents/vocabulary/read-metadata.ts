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

/** The metadata of the message that started an invocation, while its turn runs. A spoken turn has its run config itself. */
export function readMetadata(marking: Marking, invocationId: InvocationId): MessageMetadata {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each item passed the schema of the place
  const items = listIn(marking, conversation.name).items as unknown as readonly ConversationItem[];
  const metadata =
    findUserItem(items, invocationId)?.metadata ?? readTempMetadata(mapIn(marking, state.name));
  const turn = valuesIn(marking, turnCurrent).find((one) => one.invocationId === invocationId);
  return { ...metadata, ...omitUndefined({ runConfig: turn?.runConfig }) };
}
