"""A project as scrapy-redis's own example has it: its scheduler, its dupefilter and its pipeline for all spiders."""

BOT_NAME = "example"
SPIDER_MODULES = ["example.spiders"]

SCHEDULER = "scrapy_redis.scheduler.Scheduler"
SCHEDULER_PERSIST = True
DUPEFILTER_CLASS = "scrapy_redis.dupefilter.RFPDupeFilter"
ITEM_PIPELINES = {
    "example.pipelines.StampPipeline": 300,
    "scrapy_redis.pipelines.RedisPipeline": 400,
}
