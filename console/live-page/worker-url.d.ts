declare module '*?worker&url' {
  /** The URL of the built script. */
  const url: string;
  export default url;
}
