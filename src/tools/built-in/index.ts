export { globPattern } from './glob-pattern.ts';
export { linePattern, type LinePattern } from './line-pattern.ts';
export { MissingToolPackageError } from './missing-tool-package-error.ts';
export { pageText } from './page-text.ts';
export { loadPublicAddressRule, type AddressRule } from './public-address.ts';
