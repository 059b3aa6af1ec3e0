import { InvalidInputError } from '../../core/index.ts';

/** The error of a `page` that its list did not return as `next_page`, or whose entry is deleted. */
export function invalidPageError(): InvalidInputError {
  return new InvalidInputError(
    'page',
    'is not a next_page of this list. Start the list again without page.',
  );
}
