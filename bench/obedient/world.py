# SPDX-License-Identifier: MIT
"""The tools of the four suites over their initial data: state in memory, no clock, the same bytes in every run.

Each method tool_NAME takes the parameters of the tool's schema. The journal holds every call that was done.
"""
import copy
import datetime

NOW = "2024-05-15T12:00:00"


class Refused(Exception):
    pass


def need(good, text):
    if not good:
        raise Refused(text)


def moment(text):
    return datetime.datetime.fromisoformat(text)


def minute(text):
    return datetime.datetime.strptime(text, "%Y-%m-%d %H:%M")


def day(text):
    return datetime.datetime.strptime(text, "%Y-%m-%d").date()


class Mail:
    def start_mail(self):
        for m in self.data["inbox"]["initial_emails"]:
            for k, v in (("cc", []), ("bcc", []), ("attachments", []), ("read", False)):
                m.setdefault(k, v)
        self.mails = {m["id_"]: m for m in self.data["inbox"]["initial_emails"]}
        self.owner = self.data["inbox"]["account_email"]
        people = [a for m in self.mails.values() for a in [*m["recipients"], m["sender"], *m["cc"], *m["bcc"]]]
        self.contacts = [{"email": a, "name": a.split("@")[0].replace(".", " ").title()} for a in dict.fromkeys(people)]

    def post(self, to, subject, body, attachments=(), cc=None, bcc=None):
        m = {"id_": next_id(self.mails), "sender": self.owner, "recipients": list(to), "cc": cc or [], "bcc": bcc or [],
             "subject": subject, "body": body, "status": "sent", "read": True, "timestamp": NOW,
             "attachments": list(attachments)}
        self.mails[m["id_"]] = m
        return m

    def with_status(self, status):
        return [m for m in self.mails.values() if m["status"] == status]

    def tool_send_email(self, recipients, subject, body, attachments=None, cc=None, bcc=None):
        def attached(a):
            return (a["file_id"] if "file_id" in a else a["event_details"]) if isinstance(a, dict) else a
        return self.post(recipients, subject, body, [attached(a) for a in attachments or []], cc, bcc)

    def tool_delete_email(self, email_id):
        need(email_id in self.mails, f"Email with ID '{email_id}' not found.")
        del self.mails[email_id]
        return f"Email with id {email_id} deleted successfully."

    def tool_get_unread_emails(self):
        unread = [m for m in self.mails.values() if not m["read"]]
        for m in unread:
            m["read"] = True
        return unread

    def tool_get_sent_emails(self):
        return self.with_status("sent")

    def tool_get_received_emails(self):
        return self.with_status("received")

    def tool_get_draft_emails(self):
        return self.with_status("draft")

    def tool_search_emails(self, query, sender=None):
        q = query.lower()
        found = [m for m in self.mails.values() if (sender is None or m["sender"].lower() == sender.lower())
                 and (q in m["subject"].lower() or q in m["body"].lower())]
        need(found, "No emails found. Try with a different query.")
        return found

    def contact(self, field, query):
        found = [c for c in self.contacts if query.lower() in c[field].lower()]
        need(found, f"Contact with {field} '{query}' not found.")
        return found

    def tool_search_contacts_by_name(self, query):
        return self.contact("name", query)

    def tool_search_contacts_by_email(self, query):
        return self.contact("email", query)


class Calendar:
    def start_calendar(self):
        for v in self.data["calendar"]["initial_events"]:
            for k, default in (("all_day", False), ("status", "confirmed"), ("location", None)):
                v.setdefault(k, default)
            v["start_time"], v["end_time"] = moment(v["start_time"]).isoformat(), moment(v["end_time"]).isoformat()
        self.events = {v["id_"]: v for v in self.data["calendar"]["initial_events"]}

    def event(self, id_):
        need(id_ in self.events, f"Event with ID '{id_}' not found.")
        return self.events[id_]

    def on(self, date):
        return [v for v in self.events.values() if moment(v["start_time"]).date() == date]

    def tell(self, v, subject, body):
        self.post(v["participants"], subject, body, [copy.deepcopy(v)])

    def tool_get_current_day(self):
        return self.data["calendar"]["current_day"]

    def tool_get_day_calendar_events(self, day_text):
        return self.on(day(day_text))

    def tool_search_calendar_events(self, query, date=None):
        q, events = query.lower(), self.on(day(date)) if date is not None else self.events.values()
        found = [v for v in events if q in v["title"].lower() or q in v["description"].lower()]
        need(found, "No events found. Try with a different query.")
        return found

    def tool_create_calendar_event(self, title, start_time, end_time, description="", participants=None, location=None):
        who = list(participants or []) + [self.data["calendar"]["account_email"]]
        v = {"id_": next_id(self.events), "title": title, "description": description,
             "start_time": minute(start_time).isoformat(), "end_time": minute(end_time).isoformat(), "location": location,
             "participants": sorted(set(who)), "all_day": False, "status": "confirmed"}
        self.events[v["id_"]] = v
        self.post(who, f"Invitation: {title}", description, [copy.deepcopy(v)])
        return v

    def tool_cancel_calendar_event(self, event_id):
        v = self.event(event_id)
        v["status"] = "canceled"
        self.tell(v, f"Canceled: '{v['title']}'", "The event has been canceled.")
        return f"Event with ID {event_id} has been canceled and participants have been notified."

    def tool_reschedule_calendar_event(self, event_id, new_start_time, new_end_time=None):
        v, start = self.event(event_id), minute(new_start_time)
        length = moment(v["end_time"]) - moment(v["start_time"])
        end = minute(new_end_time) if new_end_time is not None else start + length
        v["start_time"], v["end_time"] = start.isoformat(), end.isoformat()
        self.tell(v, f"Rescheduled: '{v['title']}'", f"It will start on {start} and end on {end}.")
        return v

    def tool_add_calendar_event_participants(self, event_id, participants):
        v = self.event(event_id)
        v["participants"] = v["participants"] + list(participants)
        return v


class Drive:
    def start_drive(self):
        for f in self.data["cloud_drive"]["initial_files"]:
            f.pop("file_type", None)
            f["shared_with"], f["size"] = f.get("shared_with") or {}, len(f["content"])
        self.files = {f["id_"]: f for f in self.data["cloud_drive"]["initial_files"]}

    def file(self, id_):
        need(id_ in self.files, f"File with ID '{id_}' not found.")
        return self.files[id_]

    def tool_append_to_file(self, file_id, content):
        f = self.file(file_id)
        f["content"] += content
        f["size"], f["last_modified"] = len(f["content"]), NOW
        return f

    def tool_search_files_by_filename(self, filename):
        return [f for f in self.files.values() if filename.lower() in f["filename"].lower()]

    def tool_create_file(self, filename, content):
        f = {"id_": next_id(self.files), "filename": filename, "content": content, "last_modified": NOW,
             "owner": self.data["cloud_drive"]["account_email"], "shared_with": {}, "size": len(content)}
        self.files[f["id_"]] = f
        return f

    def tool_delete_file(self, file_id):
        self.file(file_id)
        return self.files.pop(file_id)

    def tool_get_file_by_id(self, file_id):
        return self.file(file_id)

    def tool_list_files(self):
        return list(self.files.values())

    def tool_share_file(self, file_id, email, permission):
        need(permission in ("r", "rw"), "permission is r or rw")
        f = self.file(file_id)
        f["shared_with"][email] = permission
        return f

    def tool_search_files(self, query):
        found = [f for f in self.files.values() if query.lower() in f["content"].lower()]
        need(found, f"No files found with the given query ('{query}'). Try a different search term.")
        return found


class Bank:
    @property
    def account(self):
        return self.data["bank_account"]

    def transfer(self, recipient, amount, subject, date, recurring):
        all_ids = [t["id"] for t in self.account["transactions"] + self.account["scheduled_transactions"]]
        return {"id": max(all_ids, default=0) + 1, "sender": self.account["iban"], "recipient": recipient,
                "amount": float(amount), "subject": subject, "date": date, "recurring": recurring}

    def tool_get_iban(self):
        return self.account["iban"]

    def tool_get_balance(self):
        return self.account["balance"]

    def tool_send_money(self, recipient, amount, subject, date):
        self.account["transactions"].append(self.transfer(recipient, amount, subject, date, False))
        return {"message": f"Transaction to {recipient} for {float(amount)} sent."}

    def tool_schedule_transaction(self, recipient, amount, subject, date, recurring):
        self.account["scheduled_transactions"].append(self.transfer(recipient, amount, subject, date, recurring))
        return {"message": f"Transaction to {recipient} for {float(amount)} scheduled."}

    def tool_update_scheduled_transaction(self, id_, **changes):
        found = [t for t in self.account["scheduled_transactions"] if t["id"] == int(id_)]
        need(found, f"Transaction with ID {id_} not found.")
        for k, v in changes.items():
            if v:
                found[0][k] = float(v) if k == "amount" else v
        return {"message": f"Transaction with ID {id_} updated."}

    def tool_get_most_recent_transactions(self, n=100):
        return self.account["transactions"][-int(n):]

    def tool_get_scheduled_transactions(self):
        return self.account["scheduled_transactions"]

    def tool_read_file(self, file_path):
        return self.data["filesystem"]["files"].get(file_path, "")

    def tool_get_user_info(self):
        return {k: self.data["user_account"][k] for k in ("first_name", "last_name", "street", "city")}

    def tool_update_password(self, password):
        self.data["user_account"]["password"] = password
        return {"message": "Password updated."}

    def tool_update_user_info(self, **changes):
        self.data["user_account"].update({k: v for k, v in changes.items() if v})
        return self.tool_get_user_info()


class Chat:
    @property
    def chat(self):
        return self.data["slack"]

    def channel(self, name):
        need(name in self.chat["channels"], f"Channel {name} not found in the channels list")
        return self.chat["channel_inbox"].setdefault(name, [])

    def member(self, name):
        need(name in self.chat["users"], f"User {name} not found in the users list")
        return self.chat["user_inbox"].setdefault(name, [])

    def tool_get_channels(self):
        return self.chat["channels"]

    def tool_add_user_to_channel(self, user, channel):
        self.member(user)
        self.channel(channel)
        self.chat["user_channels"].setdefault(user, []).append(channel)

    def tool_read_channel_messages(self, channel):
        return self.channel(channel)

    def tool_read_inbox(self, user):
        return self.member(user)

    def tool_send_direct_message(self, recipient, body):
        self.member(recipient).append({"sender": "bot", "recipient": recipient, "body": body})

    def tool_send_channel_message(self, channel, body):
        self.channel(channel).append({"sender": "bot", "recipient": channel, "body": body})

    def tool_get_users_in_channel(self, channel):
        self.channel(channel)
        return [u for u, channels in self.chat["user_channels"].items() if channel in channels]

    def tool_invite_user_to_slack(self, user, user_email):
        need(user not in self.chat["users"], f"User {user} already in the users list")
        self.chat["users"].append(user)
        self.chat["user_inbox"][user], self.chat["user_channels"][user] = [], []

    def tool_remove_user_from_slack(self, user):
        self.member(user)
        self.chat["users"].remove(user)
        del self.chat["user_inbox"][user]
        self.chat["user_channels"].pop(user, None)

    def page(self, url):
        return url.removeprefix("https://").removeprefix("http://")

    def tool_get_webpage(self, url):
        return self.data["web"]["web_content"].get(self.page(url), "404 Not Found")

    def tool_post_webpage(self, url, content):
        self.data["web"]["web_content"][self.page(url)] = content


class Travel:
    # Tools that answer one field of some entries: name, list of entries, field.
    FIELDS = {
        "get_restaurants_address": ("restaurants", "address"),
        "get_cuisine_type_for_restaurants": ("restaurants", "cuisine_type"),
        "get_dietary_restrictions_for_all_restaurants": ("restaurants", "dietary_restrictions"),
        "get_contact_information_for_restaurants": ("restaurants", "contact_information"),
        "get_price_for_restaurants": ("restaurants", "price_per_person"),
        "check_restaurant_opening_hours": ("restaurants", "operating_hours"),
        "get_car_types_available": ("cars", "car_types_available"),
        "get_car_rental_address": ("cars", "address"),
        "get_car_fuel_options": ("cars", "fuel_options"),
        "get_car_price_per_day": ("cars", "price_per_day"),
    }
    TITLES = {"get_all_hotels_in_city": ("hotels", "Hotel Names: "),
              "get_all_restaurants_in_city": ("restaurants", "Restaurant in {}: "),
              "get_all_car_rental_companies_in_city": ("cars", "Car Rental Companies in {}: ")}
    REVIEWS = {"get_rating_reviews_for_hotels": "hotels", "get_rating_reviews_for_restaurants": "restaurants",
               "get_rating_reviews_for_car_rental": "cars"}

    def entries(self, what):
        where = {"hotels": ("hotels", "hotel_list"), "restaurants": ("restaurants", "restaurant_list"),
                 "cars": ("car_rental", "company_list")}[what]
        return self.data[where[0]][where[1]]

    def look_up(self, tool, args):
        """The tools of the three tables; None: another tool."""
        names = next(iter(args.values()), [])
        if tool in self.FIELDS:
            what, field = self.FIELDS[tool]
            return {x["name"]: x[field] for x in self.entries(what) if x["name"] in names}
        if tool in self.TITLES:
            what, title = self.TITLES[tool]
            return title.format(names) + "\n".join(x["name"] for x in self.entries(what) if x["city"] == names) + "\n"
        if tool in self.REVIEWS:
            return {x["name"]: f"Rating: {float(x['rating'])}\nReviews: " + "\n".join(x["reviews"])
                    for x in self.entries(self.REVIEWS[tool]) if x["name"] in names}
        return None

    def tool_get_hotels_prices(self, hotel_names):
        return {h["name"]: f"Price range: {float(h['price_min'])} - {float(h['price_max'])}"
                for h in self.entries("hotels") if h["name"] in hotel_names}

    def tool_get_hotels_address(self, hotel_name):
        return {h["name"]: h["address"] for h in self.entries("hotels") if h["name"] == hotel_name}

    def tool_get_user_information(self):
        u = self.data["user"]
        fields = ("first_name", "last_name", "ID_number", "email", "phone_number", "address", "passport_number",
                  "bank_account_number", "credit_card_number")
        return {f.replace("_", " ").title(): u[f] for f in fields}

    def book(self, kind, title, start, end):
        self.data["reservation"].update(reservation_type=kind, title=title, start_time=start.isoformat(),
                                        end_time=end.isoformat(), contact_information=self.data["user"]["phone_number"])
        return f"Reservation for {title} from {start} to {end} has been made successfully."

    def tool_reserve_hotel(self, hotel, start_day, end_day):
        return self.book("hotel", hotel, moment(start_day), moment(end_day))

    def tool_reserve_restaurant(self, restaurant, start_time):
        return self.book("restaurant", restaurant, moment(start_time), moment(start_time) + datetime.timedelta(hours=2))

    def tool_reserve_car_rental(self, company, start_time, end_time=None):
        return self.book("car", company, moment(start_time), moment(start_time))

    def tool_get_flight_information(self, departure_city, arrival_city):
        return "\n".join(
            f"Airline: {f['airline']}, Flight Number: {f['flight_number']}, Departure Time: {moment(f['departure_time'])}, "
            f"Arrival Time: {moment(f['arrival_time'])}, Price: {float(f['price'])}, "
            f"Contact Information: {f['contact_information']}"
            for f in self.data["flights"]["flight_list"]
            if f["departure_city"] == departure_city and f["arrival_city"] == arrival_city)


def next_id(entries):
    return str(max((int(k) for k in entries), default=0) + 1)


PYTHON_NAMES = {("get_day_calendar_events", "day"): "day_text", ("update_scheduled_transaction", "id"): "id_"}


class World(Mail, Calendar, Drive, Bank, Chat, Travel):
    def __init__(self, suite, texts):
        self.suite, self.data, self.journal = suite, suite.environment(texts), []
        if "inbox" in self.data:
            self.start_mail()
        if "calendar" in self.data:
            self.start_calendar()
        if "cloud_drive" in self.data:
            self.start_drive()

    def call(self, name, args):
        """Does it and returns the answer, or raises Refused."""
        tool = self.suite.tools.get(name)
        need(tool, f"no tool {name}")
        need(set(args) <= set(tool.properties), "a parameter that the tool does not have")
        need(set(tool.required) <= set(args), "a parameter is missing")

        given = copy.deepcopy(args)
        answer = self.look_up(name, args)
        if answer is None:
            answer = getattr(self, "tool_" + name)(**{PYTHON_NAMES.get((name, k), k): v for k, v in args.items()})
        self.journal.append((name, given))
        return answer
