import type { Schemas } from './generated.ts';

/** One block of a message. */
export type ContentBlock = Schemas['ContentBlock'];

/** Source of the bytes of an image or document: base64 in the event itself, a URL, or the id of a stored file. */
export type BlockSource = Schemas['BlockSource'];
