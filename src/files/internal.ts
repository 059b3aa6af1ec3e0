/** Exports of `files/` for other folders of `src/`. The package does not publish them. */

export { makeFolder } from './make-folder.ts';
