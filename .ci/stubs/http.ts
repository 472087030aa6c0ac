/** undici compares bodies with this class, but petstock sends none that arrived at a server. */
export class IncomingMessage {}
/** undici reads this limit, Node's default in bytes, for clients that are given none. */
export const maxHeaderSize = 16_384;
