/** undici imports these names for its HTTP/2 client, which is never created here. */
export const constants = {};
