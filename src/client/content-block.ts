/** One block of a message. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly source: BlockSource }
  | {
      readonly type: 'document';
      readonly source: BlockSource | { readonly type: 'text'; readonly data: string };
    };

/** Source of the bytes of an image or document: base64 in the event itself, a URL, or the id of a stored file. */
export type BlockSource =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'file'; readonly file_id: string };
