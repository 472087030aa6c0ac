export const topicNames = ['exit-codes', 'environment', 'output', 'files', 'options'] as const;
export type TopicName = (typeof topicNames)[number];
