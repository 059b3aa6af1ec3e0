import * as v from 'valibot';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';

/** A block of text. */
export const textBlock: v.ObjectSchema<
  { readonly type: v.LiteralSchema<'text', undefined>; readonly text: v.StringSchema<undefined> },
  undefined
> = v.object({ type: v.literal('text'), text: v.string() });
const bytes = v.object({
  type: v.literal('base64'),
  media_type: v.string(),
  data: field('The bytes in base64.', v.string()),
});
const url = v.object({ type: v.literal('url'), url: v.string(), media_type: v.string() });
const file = v.object({ type: v.literal('file'), file_id: v.string() });

/** A content block of an event. */
export const eventContentBlock: WireSchema<'EventContentBlock'> = component(
  'EventContentBlock',
  'One block of a message or of the result of a tool, as the server returns it.',
  v.variant('type', [
    textBlock,
    v.object({ type: v.literal('image'), source: v.variant('type', [bytes, url]) }),
    v.object({ type: v.literal('document'), source: v.variant('type', [bytes, url, file]) }),
  ]),
);
