"""The standard library: urllib, json, csv."""
import csv
import json
import os
import sys
import urllib.request

request = urllib.request.Request(
    os.environ["URL"] + "/inventory", headers={"Authorization": "Bearer " + os.environ["KEY"]}
)
with urllib.request.urlopen(request) as response:
    items = json.load(response)
writer = csv.writer(sys.stdout)
writer.writerows((item["petId"], item["quantity"], item["status"]) for item in items)
